// Completion for zsh. Pure.
import type { CompletedArgument, CompletedCommand, CompletedOption, Value } from './model.ts';

export function zshScript(commands: readonly CompletedCommand[], flags: readonly CompletedOption[]): string {
  return `#compdef iree-tuned iree-compile-tuned
# Completion of iree-tuned and iree-compile-tuned for zsh: source <(iree-tuned completions zsh), or a file _iree-tuned in a
# folder of fpath.

${commands.map(functionOf).join('\n\n')}

_iree_compile_tuned() {
  # Flags of the compiler are left to whoever knows them.
  _arguments -S \\
${flags.flatMap(optionSpecs).map(line).join('\n')}
    '*:input:_files'
}

if [[ \${funcstack[1]} == _iree-tuned ]]; then
  case $service in
    iree-compile-tuned) _iree_compile_tuned "$@" ;;
    *) _iree_tuned "$@" ;;
  esac
else
  compdef _iree_tuned iree-tuned
  compdef _iree_compile_tuned iree-compile-tuned
fi
`;
}

const nameOf = (path: readonly string[]) => ['_iree_tuned', ...path].join('_').replaceAll('-', '_');

const line = (spec: string) => `    ${spec} \\`;

function functionOf({ path, commands, options, arguments: own }: CompletedCommand): string {
  const specs = options.flatMap(optionSpecs).map(line);
  if (commands.length === 0) {
    const all = [...options.flatMap(optionSpecs), ...own.map((one, i) => argumentSpec(one, i + 1))];
    return [`${nameOf(path)}() {`, `  _arguments -S \\\n    ${all.join(' \\\n    ')}`, '}'].join('\n');
  }
  return [
    `${nameOf(path)}() {`,
    '  local state line',
    '  local -A opt_args',
    '  local -a commands',
    '  _arguments -C \\',
    ...specs,
    "    '1: :->command' \\",
    "    '*:: :->rest'",
    '  case $state in',
    '    command)',
    '      commands=(',
    ...commands.map(({ name, about }) => `        ${quote(`${name}:${about.replaceAll(':', '\\:')}`)}`),
    '      )',
    '      _describe command commands',
    '      ;;',
    '    rest)',
    '      case ${words[1]} in',
    ...commands.map(({ name }) => `        ${name}) ${nameOf([...path, name])} ;;`),
    '      esac',
    '      ;;',
    '  esac',
    '}',
  ].join('\n');
}

const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Text in a specification, where colons and brackets are signs. */
const escape = (text: string) => text.replaceAll(/[\\:[\]]/g, String.raw`\$&`);

/** All names of an option, each of which rules out the others. */
function optionSpecs({ names, about, value, valueName }: CompletedOption): string[] {
  const others = names.length > 1 ? `(${names.join(' ')})` : '';
  return names.map((name) => {
    const spec = `${others}${name}${value === null ? '' : name.startsWith('--') ? '=' : '+'}[${escape(about)}]`;
    return quote(value === null ? spec : `${spec}:${escape(valueName)}:${actionOf(value)}`);
  });
}

const argumentSpec = ({ name, value, isVariadic }: CompletedArgument, nth: number) =>
  quote(`${isVariadic ? '*' : nth}:${escape(name)}:${actionOf(value)}`);

function actionOf(value: Value): string {
  switch (value.kind) {
    case 'words':
      return `(${value.words.join(' ')})`;
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'text':
      return ' ';
  }
}
