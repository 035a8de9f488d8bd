// The text of a shim. A shim is a real file, because CMake resolves links and a link would not know its own name.
import { launcherMarker, shimVariable } from '../../system/recursion.ts';
import { DEFINITIONS, NAMES } from '../../settings/settings.ts';
import { shellWord } from '../../system/shell-word.ts';

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
if [ -x ${shellWord(launcher)} ]; then
  ${shimVariable}=${shellWord(compiler)}
  export ${shimVariable}
  exec ${shellWord(launcher)} "$@"
fi
if [ -x ${shellWord(compiler)} ]; then
  [ ! -t 2 ] || printf '%s\\n' ${shellWord(`iree-compile-tuned: ${launcher} is gone: compiling without tuning`)} >&2
${withoutSettings}
  exec ${shellWord(compiler)} "$@"
fi
printf '%s\\n' ${shellWord(`iree-compile-tuned: ${launcher} and ${compiler} are gone.`)} \\
  ${shellWord(reinstall(directory))} >&2
exit 127
`;
}

export function siblingShim(name: string, tool: string, directory: string): string {
  return `#!/bin/sh
# ${launcherMarker} (shim of ${name}, written by \`iree-tuned shim\`)
if [ -x ${shellWord(tool)} ]; then exec ${shellWord(tool)} "$@"; fi
printf '%s\\n' ${shellWord(`iree-compile-tuned: ${tool} is gone.`)} ${shellWord(reinstall(directory))} >&2
exit 127
`;
}

const reinstall = (directory: string) =>
  `Run \`iree-tuned shim ${directory}\` again, or take ${directory} out of PATH and IREE_TOOL_PATH.`;
