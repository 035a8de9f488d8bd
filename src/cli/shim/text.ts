// The text of a shim. A shim is a real file, because CMake resolves links and a link would not know its own name.
import { launcherMarker, shimVariable } from '../../system/recursion.ts';
import { DEFINITIONS, NAMES } from '../../settings/settings.ts';

/** A shell pattern of our flags whose value may be the next argument. */
const TAKES_VALUE = NAMES.filter((name) => DEFINITIONS[name].type !== 'boolean')
  .map((name) => `flag:--iree-tuned-${name} | flag:-iree-tuned-${name}`)
  .join(' | ');

/** Shell code that removes our settings from the arguments: the compiler does not know them. */
export const withoutSettings = `  my_next=flag
  for my_argument do
    shift
    case $my_next:$my_argument in
      value:*) my_next=flag ;;
      ${TAKES_VALUE}) my_next=value ;;
      flag:--iree-tuned-* | flag:-iree-tuned-*) ;;
      *)
        set -- "$@" "$my_argument"
        [ "$my_argument" != -- ] || my_next=rest
        ;;
    esac
  done`;

/** The shim that starts the launcher, or the real compiler if the launcher is gone. Paths are absolute. */
export function compilerShim(launcher: string, compiler: string, directory: string): string {
  return `#!/bin/sh
# ${launcherMarker} (shim of iree-compile, written by \`iree-tuned shim\`)
if [ -x ${quote(launcher)} ]; then
  ${shimVariable}=${quote(compiler)}
  export ${shimVariable}
  exec ${quote(launcher)} "$@"
fi
if [ -x ${quote(compiler)} ]; then
  [ ! -t 2 ] || printf '%s\\n' ${quote(`iree-compile-tuned: ${launcher} is gone: compiling without tuning`)} >&2
${withoutSettings}
  exec ${quote(compiler)} "$@"
fi
printf '%s\\n' ${quote(`iree-compile-tuned: ${launcher} and ${compiler} are gone.`)} \\
  ${quote(reinstall(directory))} >&2
exit 127
`;
}

/** The shim of another tool of the installation. */
export function siblingShim(name: string, tool: string, directory: string): string {
  return `#!/bin/sh
# ${launcherMarker} (shim of ${name}, written by \`iree-tuned shim\`)
if [ -x ${quote(tool)} ]; then exec ${quote(tool)} "$@"; fi
printf '%s\\n' ${quote(`iree-compile-tuned: ${tool} is gone.`)} ${quote(reinstall(directory))} >&2
exit 127
`;
}

const reinstall = (directory: string) =>
  `Run \`iree-tuned shim ${directory}\` again, or take ${directory} out of PATH and IREE_TOOL_PATH.`;

/** Quotes a text as one word for a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
