// The settings of one run: `--iree-tuned-*` flags before `IREE_TUNED_*` environment variables before defaults.
import { homedir } from 'node:os';
import type { InjectionOptions } from '../inject/plan.ts';
import { defaultDatabasePath } from '../store/location.ts';

export type OnMiss = 'tune' | 'default' | 'record';
export type InjectRoute = InjectionOptions['wanted'];

export interface Settings {
  /** SQLite path or `postgres://` address of the tuning database. */
  readonly database: string;
  /** The real iree-compile; undefined means that it is searched for. */
  readonly compiler: string | undefined;
  readonly onMiss: OnMiss;
  /** Seconds of tuning per compile. */
  readonly budgetSeconds: number;
  readonly inject: InjectRoute;
  /** Value of the runtime's `--device=` to measure on. */
  readonly device: string;
  readonly disabled: boolean;
  readonly readonly: boolean;
  /** Where the explain JSON goes: a path, `-` for stderr. */
  readonly explain: string | undefined;
  readonly log: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const VALUE_SETTINGS = ['db', 'compiler', 'on-miss', 'budget', 'inject', 'device', 'explain', 'log'] as const;
const SWITCHES = ['disable', 'readonly'] as const;
type Name = (typeof VALUE_SETTINGS)[number] | (typeof SWITCHES)[number];

/** A setting cannot be understood; the message names it and says what it takes. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const variable = (name: Name) => `IREE_TUNED_${name.toUpperCase().replaceAll('-', '_')}`;

/** Takes our own flags out of a command line: `--iree-tuned-budget=10`, `--iree-tuned-budget 10`, `--iree-tuned-disable`. */
export function splitSettings(argv: readonly string[]): { given: ReadonlyMap<Name, string>; rest: string[] } {
  const given = new Map<Name, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    // What follows `--` is positional, whatever it looks like.
    if (argument === '--') return { given, rest: [...rest, ...argv.slice(i)] };
    const match = /^--?iree-tuned-([a-z-]+)(?:=([^]*))?$/.exec(argument);
    if (match === null) {
      rest.push(argument);
      continue;
    }
    const name = match[1]!;
    if (isValueSetting(name)) given.set(name, match[2] ?? argv[++i] ?? '');
    else if (isSwitch(name)) given.set(name, match[2] ?? '1');
    // An unknown one is left for the compiler to complain about, as it does about any flag that it does not know.
    else rest.push(argument);
  }
  return { given, rest };
}

const isValueSetting = (name: string): name is (typeof VALUE_SETTINGS)[number] =>
  (VALUE_SETTINGS as readonly string[]).includes(name);
const isSwitch = (name: string): name is (typeof SWITCHES)[number] =>
  (SWITCHES as readonly string[]).includes(name);

/**
 * Settings from flags and environment.
 * @throws SettingsError for a value that is not one of those a setting takes
 */
export function readSettings(env: Environment, given: ReadonlyMap<Name, string>): Settings {
  const value = (name: Name) => {
    const flag = given.get(name);
    if (flag !== undefined) return { text: flag, from: `--iree-tuned-${name}` };
    const text = env[variable(name)];
    return text === undefined || text === '' ? undefined : { text, from: variable(name) };
  };
  const choice = <T extends string>(name: Name, choices: readonly [T, ...T[]]): T => {
    const found = value(name);
    if (found === undefined) return choices[0];
    const chosen = choices.find((text) => text === found.text);
    if (chosen !== undefined) return chosen;
    throw new SettingsError(`${found.from}=${found.text}: it takes ${choices.join(', ')}`);
  };
  const isOn = (name: Name) =>
    !['', '0', 'false', 'no', 'off'].includes(value(name)?.text.toLowerCase() ?? '');
  const seconds = (name: Name, fallback: number) => {
    const found = value(name);
    if (found === undefined) return fallback;
    const number = Number(found.text);
    if (found.text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
    throw new SettingsError(`${found.from}=${found.text}: it takes a number of seconds, 0 for no tuning`);
  };
  return {
    database: value('db')?.text ?? defaultDatabasePath(env, process.platform, homedir()),
    compiler: value('compiler')?.text,
    onMiss: choice('on-miss', ['tune', 'default', 'record']),
    budgetSeconds: seconds('budget', 60),
    inject: choice('inject', ['auto', 'spec', 'preprocess', 'inline', 'substitute']),
    device: value('device')?.text ?? 'local-task',
    disabled: isOn('disable'),
    readonly: isOn('readonly'),
    explain: value('explain')?.text,
    log: value('log')?.text,
  };
}
