// What can be typed: the commands as they are declared, for whoever completes them. Pure.
import type { Argument, Command, Option } from 'commander';
import { DEFINITIONS, NAMES, type Definition } from '../../settings/settings.ts';

/** What a value is completed with. */
export type Value =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' | 'folders' | 'text' };

export interface CompletedOption {
  /** As they are typed: `-o`, `--output`. */
  readonly names: readonly string[];
  readonly about: string;
  /** Null for one that takes none. */
  readonly value: Value | null;
  /** What it is called in help: `path`. */
  readonly valueName: string;
}

export interface CompletedArgument {
  readonly name: string;
  readonly value: Value;
  readonly isVariadic: boolean;
}

export interface CompletedCommand {
  /** From the program's name on, without that: `['team', 'status']`. */
  readonly path: readonly string[];
  readonly about: string;
  /** Its own, then those of all commands but for what it means something else by. */
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly CompletedArgument[];
  /** The last words of their paths. */
  readonly commands: readonly { readonly name: string; readonly about: string }[];
}

/** What placeholders stand for; everything else is text that nobody else knows. */
const KINDS: Readonly<Record<string, Value['kind'] & ('files' | 'folders')>> = {
  path: 'files',
  file: 'files',
  files: 'files',
  input: 'files',
  inputs: 'files',
  databases: 'files',
  // The compiler's own: whoever knows them completes them himself.
  flags: 'files',
  dir: 'folders',
};

function valueOf(name: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return { kind: 'words', words: choices };
  return { kind: KINDS[name] ?? 'text' };
}

/** The program itself, and every command below it, parents first. */
export function commandsOf(program: Command): CompletedCommand[] {
  const walk = (command: Command, path: readonly string[]): CompletedCommand[] => [
    describe(command, path, program),
    ...command.commands.flatMap((one) => walk(one, [...path, one.name()])),
  ];
  return walk(program, []);
}

function describe(command: Command, path: readonly string[], program: Command): CompletedCommand {
  const help = command.createHelp();
  const own = help.visibleOptions(command).map(optionOf);
  const taken = new Set(own.flatMap(({ names }) => names));
  const shared =
    command === program
      ? []
      : program.options.map(optionOf).filter(({ names }) => !names.some((name) => taken.has(name)));
  const commands = command.commands.map((one) => ({ name: one.name(), about: one.description() }));
  return {
    path,
    about: command.description(),
    // The version is nobody's who has typed a command already.
    options: [...own, ...shared.filter(({ names }) => !names.includes('--version'))],
    arguments: command.registeredArguments.map(argumentOf),
    commands,
  };
}

function optionOf({ short, long, description, flags, argChoices }: Option): CompletedOption {
  const valueName = /[<[]([^\]>.]+)/.exec(flags)?.[1];
  return {
    names: [short, long].filter((name) => name !== undefined),
    about: description,
    value: valueName === undefined ? null : valueOf(valueName, argChoices),
    valueName: valueName ?? '',
  };
}

const argumentOf = (argument: Argument): CompletedArgument => ({
  name: argument.name(),
  value: valueOf(argument.name(), argument.argChoices),
  isVariadic: argument.variadic,
});

/** The flags of the drop-in that are not the compiler's. */
export const ownFlags = (): CompletedOption[] =>
  NAMES.map((name) => {
    const { type, takes, isPath, choices }: Definition<unknown> = DEFINITIONS[name];
    const value: Value =
      choices !== undefined ? { kind: 'words', words: choices } : { kind: isPath ? 'files' : 'text' };
    return {
      names: [`--iree-tuned-${name}`],
      about: takes,
      value: type === 'boolean' ? null : value,
      valueName: name,
    };
  });
