// The settings, their values and defaults.
import { UserError } from '../system/user-error.ts';
import { parseSizes, type TunedSizes } from '../workload/sizes.ts';
import { isServer, isTeamAddress, withoutPassword } from './address.ts';

export interface Settings {
  /** SQLite path or `postgres://` address of the tuning database. */
  readonly database: string;
  /** Whether a project that the user does not trust has chosen the database: its content is pushed to no team. */
  readonly isForeignDatabase: boolean;
  /** The real iree-compile; undefined means that it is searched for. */
  readonly compiler: string | undefined;
  readonly onMiss: OnMiss;
  /** Seconds of tuning per compile. */
  readonly budgetSeconds: number;
  readonly inject: InjectRoute;
  /** Where to tune contractions with dynamic dimensions. */
  readonly sizes: TunedSizes;
  /** Value of the runtime's `--device=` to measure on; undefined for the usual one of the target. */
  readonly device: string | undefined;
  /** The device that the build is for, by name, key or class; undefined for this machine. */
  readonly forDevice: string | undefined;
  /** Whose records are used where nothing is measured: this device's, or those of its class too. */
  readonly trust: Trust;
  /** Builds fail instead of falling back; undefined: they fall back. */
  readonly require: Require | undefined;
  readonly disabled: boolean;
  readonly readonly: boolean;
  /** Where the explain JSON goes: a path, `-` for stderr. */
  readonly explain: string | undefined;
  readonly log: string | undefined;
  /** The folder of everything that can be made again. It need not exist. */
  readonly cache: string;
  /** Whether the output cache is used. */
  readonly outputs: boolean;
  /** The lock file that was found, or that a setting names, which need not exist; undefined for none. */
  readonly lock: string | undefined;
  /** Nothing is decided but by the lock file. */
  readonly frozen: boolean;
  /** `postgres://` URL of the team's server, with its password: never to be shown as it is. Undefined where there is none. */
  readonly team: string | undefined;
  /** Limit of a build's waiting for the team's server, in all. */
  readonly teamTimeoutMs: number;
}

export type Trust = 'device' | 'class';
/** Every tunable operation has a decision; every configuration was also seen in the executables. */
export type Require = 'tuned' | 'landed';
export type OnMiss = 'tune' | 'default' | 'record';
/** Ways to bring configurations to the compiler, the sooner the less of the compile is touched. */
export const ROUTES = ['spec', 'preprocess', 'inline', 'substitute'] as const;

export type Route = (typeof ROUTES)[number];
export type InjectRoute = 'auto' | Route;

/** Whether something may be asked of the whole program before it is optimised. */
export const mayPreprocess = (inject: InjectRoute): boolean => inject === 'auto' || inject === 'preprocess';

/** A setting cannot be understood; the message names it and its possible values. */
export class SettingsError extends UserError {
  override readonly name = 'SettingsError';
}

/** How one setting is written. */
export interface Definition<T> {
  /** Its type in a settings file. */
  readonly type: 'string' | 'number' | 'boolean';
  /** Possible values, for messages: `it takes ...`. */
  readonly takes: string;
  /** The value that a text stands for; undefined when the text is not accepted. */
  readonly read: (text: string) => T | undefined;
  /** All that is accepted, where these are few. */
  readonly choices?: readonly string[];
  /** The text is a place: relative to the folder of the settings file that it stands in. */
  readonly isPath: boolean;
  /** The text as it may be shown, where it may hold a secret. */
  readonly shown?: (text: string) => string;
}

const text = (takes: string, isPath = false): Definition<string> => ({
  type: 'string',
  takes,
  read: (value) => (value === '' ? undefined : value),
  isPath,
});
const path = (takes: string) => text(takes, true);

const oneOf = <T extends string>(...choices: readonly T[]): Definition<T> => ({
  type: 'string',
  takes: choices.join(', '),
  choices,
  read: (value) => choices.find((choice) => choice === value),
  isPath: false,
});

const onOrOff: Definition<boolean> = {
  type: 'boolean',
  takes: 'true or false',
  // In a flag or variable, every other text means yes.
  read: (value) => !['', '0', 'false', 'no', 'off'].includes(value.toLowerCase()),
  isPath: false,
};

const number = (takes: string, isRight: (number: number) => boolean): Definition<number> => ({
  type: 'number',
  takes,
  read: (value) => {
    const number = Number(value);
    return value.trim() !== '' && Number.isFinite(number) && isRight(number) ? number : undefined;
  },
  isPath: false,
});

const seconds = number('a number of seconds, 0 for no tuning', (number) => number >= 0);

const milliseconds = number('a number of milliseconds, more than 0', (number) => number > 0);

const teamAddress: Definition<string> = {
  type: 'string',
  takes:
    'the URL of a PostgreSQL server, such as postgres://user@host/database, with %XX for what is special in a password',
  read: (value) => (isTeamAddress(value) ? value : undefined),
  isPath: false,
  shown: withoutPassword,
};

const sizes: Definition<string> = {
  type: 'string',
  takes: 'sizes to tune at, such as m=1,16,128',
  read: (value) => (parseSizes(value) === null ? undefined : value),
  isPath: false,
};

/** Every setting under the name that it has as a flag and in settings files. */
export const DEFINITIONS = {
  db: {
    ...path('the path of a SQLite file'),
    shown: (value: string) => (isServer(value) ? withoutPassword(value) : value),
  },
  compiler: path('the path of the real iree-compile'),
  'on-miss': oneOf<OnMiss>('tune', 'default', 'record'),
  budget: seconds,
  inject: oneOf<InjectRoute>('auto', ...ROUTES),
  dim: sizes,
  device: text('a device of the runtime, such as local-task'),
  'for-device': text('the name, the key or the class of a device that iree-tuned devices lists'),
  trust: oneOf<Trust>('device', 'class'),
  require: oneOf<Require>('tuned', 'landed'),
  disable: onOrOff,
  readonly: onOrOff,
  explain: path('a path, or - for stderr'),
  log: path('the path of a file'),
  cache: path('the path of a folder'),
  outputs: onOrOff,
  lock: path('the path of a lock file'),
  frozen: onOrOff,
  team: teamAddress,
  'team-timeout': milliseconds,
};

export type Name = keyof typeof DEFINITIONS;

export const NAMES = Object.keys(DEFINITIONS) as readonly Name[];

export const isName = (name: string): name is Name => Object.hasOwn(DEFINITIONS, name);

/** The text of a setting, without secrets. */
export const shownText = (name: Name, given: string): string => {
  const { shown }: Pick<Definition<unknown>, 'shown'> = DEFINITIONS[name];
  return shown?.(given) ?? given;
};

/** The environment variable of a setting. */
export const variableOf = (name: Name): string => `IREE_TUNED_${name.toUpperCase().replaceAll('-', '_')}`;
