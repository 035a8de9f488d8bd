// What pip puts into an environment's `bin`: a shell script, because a Python would take longer to start than a hit takes in
// all. It finds the package as pip lays it out, from wherever it lies itself.
import { withoutSettings } from '../../src/shim/text.ts';
import { launcherMarker } from '../../src/system/recursion.ts';

/** The module's name, which is its folder's in site-packages. */
export const MODULE = 'iree_compile_tuned';

/**
 * The start of both commands: sets `my_launcher` to the one of the package, or to nothing, and `my_bin` to where the command
 * lies. An environment may be a link, or hold several Pythons; then the package that was installed last is the one
 * whose script this is.
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
  # A virtual environment or a prefix; the same with libraries of 64 bits apart; \`pip install --target\`.
  for my_packages in 'lib/python*/*-packages' 'lib64/python*/*-packages' .; do
    # A pattern, and only here: in the working directory there may be an environment, too.
    for my_file in "$my_bin"/../$my_packages/${MODULE}/bin/${name}; do
      [ -x "$my_file" ] || continue
      if [ -z "$my_launcher" ] || [ "$my_file" -nt "$my_launcher" ]; then my_launcher=$my_file; fi
    done
    [ -z "$my_launcher" ] || break
  done
  # A link to the environment's, as pipx makes them: one step further.
  [ -z "$my_launcher" ] && [ -L "$my_self" ] || break
  my_target=$(readlink -- "$my_self")
  case $my_target in /*) my_self=$my_target ;; *) my_self=$my_bin/$my_target ;; esac
done
[ -z "$my_launcher" ] || exec "$my_launcher" "$@"
`;

/** Compiles all the same where the package is not found: without tuning, and without our settings. */
const compiling = `# Whether the file $1 is one of ours; all of them say so in their second line.
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
echo "Install it again (pip install 'iree-compile-tuned[iree]')." >&2
exit 127
`;

const givingUp = `echo "iree-tuned: the package ${MODULE} is not found from $my_bin." >&2
echo "Install it again (pip install 'iree-compile-tuned[iree]')." >&2
exit 1
`;

/** Texts by name. */
export const environmentScripts: ReadonlyMap<string, string> = new Map([
  ['iree-compile-tuned', finding('iree-compile-tuned') + compiling],
  ['iree-tuned', finding('iree-tuned') + givingUp],
]);

/** For IREE_TOOL_PATH, where Python's binding looks for a file of this name: lies in a folder beside `bin`. */
export const toolScript = `#!/bin/sh
# ${launcherMarker} (iree-compile for IREE_TOOL_PATH, where iree_compile_tuned.install() puts its folder)
exec "\${0%/*}/../bin/iree-compile-tuned" "$@"
`;
