// The settings, their syntax, and their flags on the compiler's command line.
import { UserError } from '../system/user-error.ts';
import { isCpuList, readAddress } from '../runner/address.ts';
import { isServer, isServerAddress, readBases, withoutPassword, type BaseAddress } from './address.ts';
import { ownDataText, parseOwnData, withPaths, type OwnData } from './own-data.ts';
import { parseSizes, type WantedSizes } from './wanted-sizes.ts';

export interface Settings {
  /** Path of the SQLite database. */
  readonly database: string;
  /** Whether an untrusted project chose the database. Nothing from it is pushed to a team. */
  readonly isForeignDatabase: boolean;
  /** Path of the real iree-compile; undefined to search for it. */
  readonly compiler: string | undefined;
  readonly onMiss: 'tune' | 'default' | 'record';
  /** Seconds of tuning per compile. */
  readonly budgetSeconds: number;
  readonly inject: InjectRoute;
  /** Sizes at which to tune dynamic dimensions. */
  readonly sizes: WantedSizes;
  /** The user's inputs and parameters for runs of the program; the others are generated. */
  readonly data: OwnData;
  /** Most bytes of generated inputs and parameters of a function; undefined for a share of the memory. */
  readonly mostInput: number | undefined;
  /** Value of the runtime's `--device=` for measurements; undefined for the target's default. */
  readonly device: string | undefined;
  /** Where programs run to be measured, if not on this machine: `ssh://HOST`, `adb://SERIAL`, or a command. */
  readonly runner: string | undefined;
  /** Folder there with the tools of the runtime, or a wheel here that has them; undefined if its shell finds them. */
  readonly runnerTools: string | undefined;
  /** Its processors that run programs, such as `4-7`; undefined for all. */
  readonly runnerCpus: string | undefined;
  /** Device of the build, by name, key or class; undefined for this machine. */
  readonly forDevice: string | undefined;
  /** Records that builds without tuning use: this device's, or those of its class too. */
  readonly trust: 'device' | 'class';
  /**
   * When builds fail instead of falling back; undefined for never. `tuned`: every tunable operation has a decision. `landed`: also, the
   * executables contain every configuration. `verified`: no configuration ships that no run of the program has proven.
   */
  readonly require: 'tuned' | 'landed' | 'verified' | undefined;
  readonly disabled: boolean;
  readonly readonly: boolean;
  /** Path of the explain JSON; `-` for stderr. */
  readonly explain: string | undefined;
  readonly log: string | undefined;
  /** The cache folder. It need not exist. */
  readonly cache: string;
  /** Whether the output cache is used. */
  readonly outputs: boolean;
  /** Path of the lock file from a setting, which need not exist, or from the search; undefined for none. */
  readonly lock: string | undefined;
  /** Only the lock file decides. */
  readonly frozen: boolean;
  /** The team's read-only databases below the own one, the first one first. */
  readonly bases: readonly BaseAddress[];
  /** Key that signs their heads: base64 of the SPKI form of an Ed25519 key. Undefined if folder or web server are trusted. */
  readonly teamKey: string | undefined;
  /** Command that prints a bearer token for a base on a web server. */
  readonly teamToken: string | undefined;
  /** Whether new records go to the inbox of the bases, or are also published at once. */
  readonly publish: 'off' | 'inbox' | 'now';
  /** Author of new records in place of the user's name; undefined for the user's name. */
  readonly author: string | undefined;
  /** `postgres://` URL of the fleet's queue, with its password: show it through `withoutPassword` only. Undefined for none. */
  readonly fleet: string | undefined;
}

/** Ways to inject configurations, the least intrusive first. */
export const ROUTES = ['spec', 'preprocess', 'inline', 'substitute'] as const;

export type Route = (typeof ROUTES)[number];
export type InjectRoute = 'auto' | Route;

/** Whether the route allows passes on the whole program before optimisation. */
export const mayPreprocess = (inject: InjectRoute): boolean => inject === 'auto' || inject === 'preprocess';

/** An invalid setting. The message names the setting and its possible values. */
export class SettingsError extends UserError {
  override readonly name = 'SettingsError';
}

/** The syntax of one setting. */
export interface Definition<T> {
  /** JSON type in a settings file; a duration is a number or a string. */
  readonly type: 'string' | 'boolean' | 'duration';
  /** Possible values, for messages: `it takes ...`. */
  readonly takes: string;
  /** Parses a text; undefined if it is invalid. */
  readonly read: (text: string) => T | undefined;
  /** Replaces the paths in a valid text; absent without paths. In a settings file they are relative to its folder. */
  readonly withPaths?: (text: string, change: (path: string) => string) => string;
  /** Removes secrets from the text, for messages. */
  readonly shown?: (text: string) => string;
  /** Why a project's file may not set it, because other people write the file; absent if it may. */
  readonly whyNotProject?: string;
}

const text = (takes: string): Definition<string> => ({
  type: 'string',
  takes,
  read: (value) => (value === '' ? undefined : value),
});
const path = (takes: string): Definition<string> => ({
  ...text(takes),
  withPaths: (value, change) => change(value),
});

const oneOf = <T extends string>(...choices: readonly T[]): Definition<T> => ({
  type: 'string',
  takes: choices.join(', '),
  read: (value) => choices.find((choice) => choice === value),
});

const onOrOff: Definition<boolean> = {
  type: 'boolean',
  takes: 'true or false',
  // Any other text in a flag or variable means true.
  read: (value) => !['', '0', 'false', 'no', 'off'].includes(value.toLowerCase()),
};

const UNITS = { s: 1, m: 60, h: 3600 };

/** Seconds of a time such as `90`, `90s`, `15m` or `2h`; undefined for other texts. */
export const readDuration = (text: string): number | undefined => {
  const [, count = '', unit = 's'] = /^(.*?)([smh])?$/.exec(text) ?? [];
  const seconds = Number(count) * UNITS[unit as keyof typeof UNITS];
  return count.trim() !== '' && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
};

const SIZE_UNITS = { K: 10, M: 20, G: 30, T: 40 };

const bytes: Definition<number> = {
  type: 'string',
  takes: 'a size such as 512M or 8G',
  read(text) {
    const [, count, unit] = /^(\d+(?:\.\d+)?)([KMGT])(?:i?B)?$/i.exec(text) ?? [];
    const power = SIZE_UNITS[unit?.toUpperCase() as keyof typeof SIZE_UNITS];
    return count === undefined ? undefined : Number(count) * 2 ** power;
  },
};

const ownData: Definition<string> = {
  type: 'string',
  takes: 'entries such as arg0=@tokens.npy, prefill.arg1=4x8xf32=@raw.bin or parameters=model=@weights.irpa',
  read: (value) => (parseOwnData(value) === null ? undefined : value),
  withPaths: (value, change) => ownDataText(withPaths(parseOwnData(value)!, change)),
};

const duration: Definition<number> = {
  type: 'duration',
  takes: 'seconds, or a time such as 90s, 15m or 2h; 0 for no tuning',
  read: readDuration,
};

/** Any part of an invalid address may be a password. */
const shownTeam = (value: string): string =>
  isServer(value) ? withoutPassword(value) : value.includes('@') ? '***' : value;

const teamAddress: Definition<string> = {
  type: 'string',
  takes: 'absolute paths of folders and https:// URLs without a password, with commas between them',
  // Earlier versions had a server here: see `resolveSettings`.
  read: (value) => (isServer(value) || readBases(value) !== undefined ? value : undefined),
  shown: shownTeam,
  whyNotProject: 'a project may not choose the team',
};

/** Digits of an Ed25519 key in its SPKI form of 44 bytes. */
const PUBLIC_KEY = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/;

const sizes: Definition<string> = {
  type: 'string',
  takes: 'sizes to tune at, such as m=1,16,128 or "batch=1 seq=512 / batch=4,16 seq=1"',
  read: (value) => (parseSizes(value) === null ? undefined : value),
};

/** Every setting by its name, which flags and settings files share. */
export const DEFINITIONS = {
  db: {
    ...path('the path of a SQLite file'),
    shown: (value: string) => (isServer(value) ? withoutPassword(value) : value),
  },
  compiler: {
    ...path('the path of the real iree-compile'),
    whyNotProject: 'a project may not choose the compiler',
  },
  'on-miss': oneOf('tune', 'default', 'record'),
  budget: duration,
  inject: oneOf<InjectRoute>('auto', ...ROUTES),
  dim: sizes,
  input: ownData,
  'max-input': bytes,
  device: text('a device of the runtime, such as local-task'),
  runner: {
    ...text('ssh://USER@HOST, adb://SERIAL, or a command that runs the command line in its arguments'),
    read: (value: string) => (readAddress(value) === undefined ? undefined : value),
    whyNotProject: 'a project may not choose where programs run',
  },
  'runner-tools': {
    ...text('a folder of the machine that runs programs, or the path of a wheel of iree-base-runtime'),
    whyNotProject: 'a project may not choose which programs run',
  },
  'runner-cpus': {
    ...text('processors of the machine that runs programs, such as 4-7'),
    read: (value: string) => (isCpuList(value) ? value : undefined),
  },
  'for-device': text('the name, the key or the class of a device that iree-tuned device ls lists'),
  trust: oneOf('device', 'class'),
  require: oneOf('tuned', 'landed', 'verified'),
  disable: onOrOff,
  readonly: onOrOff,
  explain: path('a path, or - for stderr'),
  log: path('the path of a file'),
  cache: { ...path('the path of a folder'), whyNotProject: 'builds run commands from the cache' },
  outputs: onOrOff,
  lock: path('the path of a lock file'),
  frozen: onOrOff,
  team: teamAddress,
  'team-key': {
    ...text('the public key that iree-tuned team key prints'),
    read: (value: string) => (PUBLIC_KEY.test(value) ? value : undefined),
    whyNotProject: 'a project may not choose whom you trust',
  },
  'team-token': {
    ...text('a command that prints a bearer token'),
    whyNotProject: 'a project may not choose commands',
  },
  'team-publish': {
    ...oneOf('off', 'inbox', 'now'),
    whyNotProject: 'a project may not send your records',
  },
  author: {
    ...text('a name or a pseudonym of at most 64 characters'),
    read: (value: string) => (/^[^\p{C}]{1,64}$/u.test(value) ? value : undefined),
    whyNotProject: 'a project may not sign your records',
  },
  fleet: {
    ...text(
      'the URL of a PostgreSQL server, such as postgres://user@host/database, with %XX for special characters of a password',
    ),
    read: (value: string) => (isServerAddress(value) ? value : undefined),
    shown: withoutPassword,
    whyNotProject: 'a project may not choose a server',
  },
};

export type Name = keyof typeof DEFINITIONS;

export const NAMES = Object.keys(DEFINITIONS) as readonly Name[];

export const isName = (name: string): name is Name => Object.hasOwn(DEFINITIONS, name);

/** The text of a setting without secrets. */
export const shownText = (name: Name, given: string): string => {
  const { shown }: Pick<Definition<unknown>, 'shown'> = DEFINITIONS[name];
  return shown?.(given) ?? given;
};

export const variableOf = (name: Name): string => `IREE_TUNED_${name.toUpperCase().replaceAll('-', '_')}`;

/** Removes the wrapper's flags from a command line: `--iree-tuned-budget=10`, `--iree-tuned-budget 10`, `--iree-tuned-disable`. */
export function splitFlags(argv: readonly string[]): { given: ReadonlyMap<Name, string>; rest: string[] } {
  const given = new Map<Name, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    // Arguments after `--` are positional.
    if (argument === '--') return { given, rest: [...rest, ...argv.slice(i)] };
    const match = /^--?iree-tuned-([a-z-]+)(?:=([^]*))?$/.exec(argument);
    const name = match?.[1] ?? '';
    // The compiler reports an unknown flag.
    if (!isName(name)) rest.push(argument);
    else if (DEFINITIONS[name].type === 'boolean') given.set(name, match![2] ?? '1');
    else {
      const text = match![2] ?? argv[++i] ?? '';
      // One flag for each kind of dimension, and for each argument.
      const mayRepeat = name === 'dim' || name === 'input';
      given.set(name, mayRepeat && given.has(name) ? `${given.get(name)!} ${text}` : text);
    }
  }
  return { given, rest };
}
