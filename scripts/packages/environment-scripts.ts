// Commands in the `bin` of a Python environment. They are shell scripts, because Python takes longer to start than a whole hit. They find the
// package in pip's layout, relative to themselves.
import { withoutSettings } from '../../src/cli/shim/text.ts';
import { launcherMarker } from '../../src/system/recursion.ts';

/** Name of the module, and of its folder in site-packages. */
export const MODULE = 'iree_compile_tuned';

/**
 * First part of both commands: sets `my_launcher` to the package's launcher or to nothing, and `my_bin` to the command's folder. In an
 * environment with several Pythons it chooses the latest installation, which wrote the script.
 */
const finding = (name: string) => `#!/bin/sh
# ${launcherMarker} (${name} of a Python environment: starts the one in the package)
my_self=$0
case $my_self in
  */*) ;;
  *) if [ -f "./$my_self" ]; then my_self=./$my_self; else my_self=$(command -v "$my_self"); fi ;;
esac
my_launcher=
while :; do
  my_bin=\${my_self%/*}
  # Layouts: a virtual environment or prefix; the same with lib64; \`pip install --target\`.
  for my_packages in 'lib/python*/*-packages' 'lib64/python*/*-packages' .; do
    # Unquoted, because it is a pattern.
    for my_file in "$my_bin"/../$my_packages/${MODULE}/bin/${name}; do
      [ -x "$my_file" ] || continue
      if [ -z "$my_launcher" ] || [ "$my_file" -nt "$my_launcher" ]; then my_launcher=$my_file; fi
    done
    [ -z "$my_launcher" ] || break
  done
  # Follow a link to an environment, as pipx makes them.
  [ -z "$my_launcher" ] && [ -L "$my_self" ] || break
  my_target=$(readlink -- "$my_self")
  case $my_target in /*) my_self=$my_target ;; *) my_self=$my_bin/$my_target ;; esac
done
[ -z "$my_launcher" ] || exec "$my_launcher" "$@"
`;

/** Without the package: compiles without tuning, and removes the wrapper's settings. */
const compiling = `# Whether the file $1 belongs to this program, by the marker in its second line.
is_ours() {
  my_line=
  { IFS= read -r my_line && IFS= read -r my_line; } <"$1" 2>/dev/null
  case $my_line in *'${launcherMarker}'*) return 0 ;; esac
  return 1
}
for my_real in "$my_bin/iree-compile" "$(command -v iree-compile)"; do
  [ -f "$my_real" ] && [ -x "$my_real" ] && ! is_ours "$my_real" || continue
  [ ! -t 2 ] || echo "iree-compile-tuned: the package ${MODULE} is not found from $my_bin: compiling without tuning" >&2
${withoutSettings}
  exec "$my_real" "$@"
done
echo "iree-compile-tuned: neither the package ${MODULE} nor an iree-compile is found from $my_bin." >&2
echo "Install its wheel again (pip install --force-reinstall 'FILE[iree]')." >&2
exit 127
`;

const givingUp = `echo "iree-tuned: the package ${MODULE} is not found from $my_bin." >&2
echo "Install its wheel again (pip install --force-reinstall 'FILE[iree]')." >&2
exit 1
`;

/** Scripts by name. */
export const environmentScripts: ReadonlyMap<string, string> = new Map([
  ['iree-compile-tuned', finding('iree-compile-tuned') + compiling],
  ['iree-tuned', finding('iree-tuned') + givingUp],
]);

/** The `iree-compile` for IREE_TOOL_PATH, in a folder next to `bin`. */
export const toolScript = `#!/bin/sh
# ${launcherMarker} (iree-compile for IREE_TOOL_PATH, where iree_compile_tuned.install() puts its folder)
exec "\${0%/*}/../bin/iree-compile-tuned" "$@"
`;
