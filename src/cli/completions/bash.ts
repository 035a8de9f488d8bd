// Completion for bash, from 3.2 on. Pure.
import type { CompletedCommand, CompletedOption, Value } from './model.ts';

export function bashScript(commands: readonly CompletedCommand[], flags: readonly CompletedOption[]): string {
  return `# Completion of iree-tuned and iree-compile-tuned for bash: source <(iree-tuned completions bash)

# Sets kind and words to what the option $2 of the command $1 takes; kind is empty for one that takes nothing.
_iree_tuned_value() {
  kind= words=
  case $1:$2 in
${commands.flatMap(valueCases).join('\n')}
  esac
}

# Sets commands and options to what may follow the command $1.
_iree_tuned_words() {
  commands= options=
  case $1 in
${commands.map(wordsCase).join('\n')}
  esac
}

# Sets kind and words to what the argument number $2 of the command $1 is.
_iree_tuned_argument() {
  kind=text words=
  case $1:$2 in
${commands.flatMap(argumentCases).join('\n')}
  esac
}

# Offers words, files, folders or nothing; $1 is typed already, and $2 stands before it in the same word.
_iree_tuned_offer() {
  local IFS=$' \\t\\n'
  case $kind in
    files) return ;;
    folders) compopt +o default +o bashdefault -o dirnames 2>/dev/null && return ;;
    words) COMPREPLY=($(compgen -P "$2" -W "$words" -- "$1")) ;;
  esac
  [[ $kind == folders ]] || compopt +o default +o bashdefault 2>/dev/null
}

_iree_tuned() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= nth=1 option= prefix= is_over=
  local kind words commands options word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # Bash has made words of the signs in a word, too.
    if [[ $word == = || $word == : ]]; then
      [[ -n $option ]] || ((i++))
    elif [[ -n $option ]]; then
      option=
    elif [[ $word == -- ]]; then
      is_over=1
    elif [[ $word == -* && -z $is_over ]]; then
      _iree_tuned_value "$command" "$word"
      [[ -z $kind ]] || option=$word
    else
      _iree_tuned_words "$command"
      if [[ " $commands " == *" $word "* ]]; then command=\${command:+$command }$word; else ((nth++)); fi
    fi
  done
  [[ $current != = ]] || current=
  if [[ -z $option$is_over && $current == --*=* ]]; then
    option=\${current%%=*} prefix=$option= current=\${current#*=}
  fi
  if [[ -n $option ]]; then
    _iree_tuned_value "$command" "$option"
    _iree_tuned_offer "$current" "$prefix"
    return
  fi
  _iree_tuned_words "$command"
  if [[ $current == -* && -z $is_over ]]; then
    kind=words words=$options
  elif [[ -n $commands ]]; then
    kind=words words=$commands
  else
    _iree_tuned_argument "$command" "$nth"
  fi
  _iree_tuned_offer "$current"
}

_iree_compile_tuned() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} prefix= kind words option
  COMPREPLY=()
  if [[ $before == = ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $current == = ]]; then
    current=
  elif [[ $current == --*=* ]]; then
    before=\${current%%=*} prefix=$before= current=\${current#*=}
  fi
  kind= words=
  case $before in
${flags.flatMap(({ names, value }) => caseOf(names, value, '    ')).join('\n')}
  esac
  if [[ -n $kind ]]; then
    _iree_tuned_offer "$current" "$prefix"
  elif [[ -z $prefix && $current == -* ]]; then
    # Flags of the compiler are left to whoever knows them.
    COMPREPLY=($(compgen -W '${flags.map(({ names, value }) => names[0]! + (value === null ? '' : '=')).join(' ')}' -- "$current"))
    [[ \${COMPREPLY[0]:-} != *= ]] || compopt -o nospace 2>/dev/null
  fi
}

complete -o default -o bashdefault -F _iree_tuned iree-tuned
complete -o default -o bashdefault -F _iree_compile_tuned iree-compile-tuned
`;
}

const keyOf = ({ path }: CompletedCommand) => path.join(' ');

const valueCases = (command: CompletedCommand): string[] =>
  command.options.flatMap(({ names, value }) =>
    caseOf(
      names.map((name) => `${keyOf(command)}:${name}`),
      value,
      '    ',
    ),
  );

function argumentCases(command: CompletedCommand): string[] {
  return command.arguments.flatMap(({ value, isVariadic }, i) =>
    // What there may be more of is the last one.
    caseOf([`${keyOf(command)}:${isVariadic ? '*' : i + 1}`], value, '    ', isVariadic),
  );
}

/** A branch that sets kind and words; none for what takes nothing. */
function caseOf(patterns: readonly string[], value: Value | null, indent: string, isOpen = false): string[] {
  if (value === null) return [];
  const quoted = patterns.map((one) => (isOpen ? `'${one.slice(0, -1)}'*` : `'${one}'`));
  const words = value.kind === 'words' ? ` words='${value.words.join(' ')}'` : '';
  return [`${indent}${quoted.join(' | ')}) kind=${value.kind}${words} ;;`];
}

const wordsCase = ({ path, commands, options }: CompletedCommand): string =>
  [
    `    '${path.join(' ')}')`,
    `      commands='${commands.map(({ name }) => name).join(' ')}'`,
    `      options='${options.flatMap(({ names }) => names.filter((name) => name.startsWith('--'))).join(' ')}'`,
    '      ;;',
  ].join('\n');
