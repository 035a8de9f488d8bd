// Completion for fish. Pure.
import type { CompletedCommand, CompletedOption, Value } from './model.ts';

export function fishScript(commands: readonly CompletedCommand[], flags: readonly CompletedOption[]): string {
  const withValue = commands.flatMap(({ options }) =>
    options.filter(({ value }) => value !== null).flatMap(({ names }) => names),
  );
  return `# Completion of iree-tuned and iree-compile-tuned for fish: iree-tuned completions fish | source

# Whether the command so far is $argv[2..], followed by as many arguments as $argv[1] says; by any number where that is "-".
function __iree_tuned_at
    set -l typed
    set -l skips_next 0
    set -l is_over 0
    for word in (commandline -opc)[2..-1]
        if test $skips_next = 1
            set skips_next 0
        else if test $is_over = 1
            set -a typed $word
        else
            switch $word
                case --
                    set is_over 1
                case ${[...new Set(withValue)].map(quote).join(' ')}
                    set skips_next 1
                case '-*'
                case '*'
                    set -a typed $word
            end
        end
    end
    set -l path $argv[2..-1]
    set -l length (count $path)
    test (count $typed) -ge $length; or return 1
    if test $length -gt 0
        test "$typed[1..$length]" = "$path"; or return 1
    end
    test $argv[1] = -; or test (math (count $typed) - $length) -eq $argv[1]
end

complete -c iree-tuned -f
${commands.flatMap(linesOf).join('\n')}

# Flags of the compiler are left to whoever knows them.
${flags.map((flag) => `complete -c iree-compile-tuned ${optionWords(flag)}`).join('\n')}
`;
}

const quote = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

function linesOf({ path, commands, options, arguments: own }: CompletedCommand): string[] {
  const after = (count: number | '-') =>
    `complete -c iree-tuned -n ${quote(['__iree_tuned_at', count, ...path].join(' '))}`;
  return [
    ...commands.map(({ name, about }) => `${after(0)} -a ${name} -d ${quote(about)}`),
    ...options.map((option) => `${after(commands.length > 0 ? 0 : '-')} ${optionWords(option)}`),
    ...own.flatMap(({ value, isVariadic }, i) => {
      const words = valueWords(value);
      return words === null ? [] : [`${after(isVariadic ? '-' : i)} ${words}`];
    }),
  ];
}

function optionWords({ names, about, value }: CompletedOption): string {
  const words = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  if (value !== null) words.push('-r', valueWords(value) ?? '-f');
  return [...words, '-d', quote(about)].join(' ');
}

/** What is offered for a value; null for nothing. */
function valueWords(value: Value): string | null {
  switch (value.kind) {
    case 'words':
      return `-f -a ${quote(value.words.join(' '))}`;
    case 'files':
      return '-F';
    case 'folders':
      return "-f -a '(__fish_complete_directories)'";
    case 'text':
      return null;
  }
}
