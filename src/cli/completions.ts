// `iree-tuned completions`, and the hidden command that its scripts ask for each completion.
import { Argument, type Command, type Option } from 'commander';
import { DEFINITIONS, NAMES, type Definition } from '../settings/settings.ts';
import { CliCommand } from './command.ts';

/** A word, and its description. */
type Candidate = readonly [word: string, about: string];

/** Candidates, or the kind of paths that the shell completes. */
type Answer = readonly Candidate[] | 'files' | 'folders';

/** Kinds of values by their placeholders. Other placeholders stand for free text. */
const PATHS: Readonly<Record<string, 'files' | 'folders'>> = {
  ...{ path: 'files', file: 'files', files: 'files', input: 'files', inputs: 'files', dir: 'folders' },
};

const BASH = `_iree_tuned() {
  local IFS=$'\\n'
  local answer=($(command iree-tuned complete bash -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  COMPREPLY=("\${answer[@]:1}")
  case $answer in
    words) compopt +o default +o bashdefault ;;
    folders) compopt +o default +o bashdefault -o dirnames ;;
  esac 2>/dev/null
  [[ $COMPREPLY != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -o bashdefault -F _iree_tuned iree-tuned iree-compile-tuned
`;

const ZSH = `#compdef iree-tuned iree-compile-tuned
_iree_tuned() {
  local -a answer=("\${(@f)$(command iree-tuned complete zsh -- "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in
    words) shift answer; [[ $answer[1] != *=:* ]] && _describe word answer || _describe word answer -S '' ;;
    folders) _files -/ ;;
    *) compset -P '--*='; _files ;;
  esac
}
if [[ $funcstack[1] == _iree-tuned ]]; then _iree_tuned; else compdef _iree_tuned iree-tuned iree-compile-tuned; fi
`;

const FISH = `function __iree_tuned_complete
    set -l answer (command iree-tuned complete fish -- (commandline -cp | string collect) 2>/dev/null)
    switch "$answer[1]"
        case words
            printf '%s\\n' $answer[2..-1]
        case folders
            __fish_complete_directories (commandline -ct)
        case '*'
            __fish_complete_path (commandline -ct)
    end
end
complete -c iree-tuned -f -a '(__iree_tuned_complete)'
complete -c iree-compile-tuned -f -a '(__iree_tuned_complete)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };

export type Shell = keyof typeof SCRIPTS;

export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

export const completions = new CliCommand(
  'completions',
  'print a script that completes iree-tuned and iree-compile-tuned in a shell',
)
  .addArgument(new Argument('<shell>', 'name of the shell').choices(SHELLS))
  .examples(
    ['source <(iree-tuned completions bash)', 'in ~/.bashrc'],
    ['source <(iree-tuned completions zsh)', 'in ~/.zshrc, after compinit'],
    ['iree-tuned completions fish | source', 'in ~/.config/fish/config.fish'],
  )
  .action((shell: Shell) => {
    process.stdout.write(SCRIPTS[shell]);
  });

export const complete = new CliCommand('complete', 'print the completions of a command line')
  .argument('<shell>')
  .withFlags('<shell>')
  .action((shell: Shell, _, command: CliCommand) => {
    process.stdout.write(`${answerText(shell, command.flags[0] ?? '', command.parent!).join('\n')}\n`);
  });

/**
 * The answer to a script: the kind of the completion, then one line for each candidate.
 * @param line up to the cursor
 */
export function answerText(shell: Shell, line: string, program: Command): string[] {
  const [name = '', ...words] = line.trimStart().split(/\s+/);
  const current = words.pop() ?? '';
  // In --option=value, the value is completed.
  const [, option, value] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
  const before = option === undefined ? words : [...words, option];
  const typed = value ?? current;
  const isDropIn = name.endsWith('iree-compile-tuned');
  const answer = isDropIn ? ofDropIn(before, typed) : ofProgram(before, typed, program);
  if (typeof answer === 'string') return [answer];
  // Bash starts a new word after =.
  const prefix = option === undefined || shell === 'bash' ? '' : `${option}=`;
  const fitting = answer.filter(([word]) => word.startsWith(typed));
  return ['words', ...fitting.map(([word, about]) => lineOf(shell, prefix + word, about))];
}

function lineOf(shell: Shell, word: string, about: string): string {
  if (shell === 'bash' || about === '') return word;
  return shell === 'fish' ? `${word}\t${about}` : `${word.replaceAll(':', '\\:')}:${about}`;
}

/** Flags of `iree-compile-tuned`. Flags of the compiler have no completion. */
function ofDropIn(before: readonly string[], typed: string): Answer {
  const flags = NAMES.map((name) => ({
    flag: `--iree-tuned-${name}`,
    ...(DEFINITIONS[name] as Definition<unknown>),
  }));
  const asked = flags.find(({ flag, type }) => flag === before.at(-1) && type !== 'boolean');
  if (asked !== undefined) return asked.isPath ? 'files' : wordsOf(asked.choices);
  if (!typed.startsWith('-')) return 'files';
  return flags.map(({ flag, type, takes }) => [type === 'boolean' ? flag : `${flag}=`, takes]);
}

function ofProgram(before: readonly string[], typed: string, program: Command): Answer {
  let command = program;
  let asked: Option | undefined;
  let operands = 0;
  for (const word of before) {
    if (word === '--') return 'files';
    const isValue: boolean = asked !== undefined && (asked.required || !word.startsWith('-'));
    asked = isValue
      ? undefined
      : optionsOf(command).find(
          (one) => [one.short, one.long].includes(word) && (one.required || one.optional),
        );
    if (isValue || word.startsWith('-')) continue;
    const child = command.commands.find((one) => one.name() === word);
    if (child === undefined) operands++;
    else [command, operands] = [child, 0];
  }
  if (asked !== undefined && (asked.required || !typed.startsWith('-')))
    return valueOf(/[<[]([^\]>.]+)/.exec(asked.flags)?.[1], asked.argChoices);
  if (typed.startsWith('-')) return optionsOf(command).map(({ long, description }) => [long!, description]);
  if (command.commands.length > 0)
    return command
      .createHelp()
      .visibleCommands(command)
      .map((one) => [one.name(), one.description()]);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[operands] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : valueOf(argument.name(), argument.argChoices);
}

function optionsOf(command: Command): Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

const valueOf = (placeholder: string | undefined, choices: readonly string[] | undefined): Answer =>
  choices === undefined ? (PATHS[placeholder ?? ''] ?? []) : wordsOf(choices);

const wordsOf = (words: readonly string[] | undefined): readonly Candidate[] =>
  (words ?? []).map((word) => [word, '']);
