// The content of a lock file: the configuration of every workload of some programs, and the route to the compiler, so that builds
// agree. And its text.
import { isDefault, type Configuration, type OwnConfiguration } from '../../backend/configuration.ts';
import { configurationText, isConfiguration } from '../../backend/index.ts';
import type { FormNames } from '../../form/choose.ts';
import { ROUTES, type InjectRoute, type Route } from '../../settings/settings.ts';
import { parseSizes, sizesText } from '../../settings/wanted-sizes.ts';
import type { Speedup } from '../../store/store.ts';
import { hasKeys, isObject } from '../../system/data.ts';
import { UserError } from '../../system/user-error.ts';

export interface Lock {
  /** Sorted by `entryKey`. */
  readonly programs: readonly LockedProgram[];
}

/** The parts of a program and its command that decisions depend on. */
export interface ProgramKey {
  /** Digest of the input. */
  readonly digest: string;
  readonly compiler: string;
  readonly target: string;
  /** Flags about the program, as given. The target's key covers the others. */
  readonly flags: readonly string[];
  /** The setting. */
  readonly inject: InjectRoute;
  /** Sizes of dynamic dimensions, as `sizesText` writes them. */
  readonly dim: string;
}

export interface LockedProgram extends ProgramKey {
  /** Path of the input, relative to the lock file's folder, with slashes. */
  readonly program: string;
  /** Forms of its operations; empty for a program that is compiled as written. */
  readonly forms: FormNames;
  /** The route of its configurations to the compiler. */
  readonly route: Route | 'none';
  /** Whether a build has to ask the compiler for the generated operations; false if the text is enough. */
  readonly surveyed: boolean;
  /** By the workload's key. */
  readonly workloads: ReadonlyMap<string, LockedWorkload>;
}

/**
 * - `record`: the configuration that was measured to be best, or the default
 * - `program`: a configuration that is better for all operations of this program at once
 * - `left-out`: the configuration makes this program worse: its operations get the default
 * - `unknown`: there was no record: its operations get the default
 */
export type LockedWorkload =
  | { readonly kind: 'record'; readonly configuration: Configuration; readonly speedup: Speedup }
  | { readonly kind: 'program'; readonly configuration: OwnConfiguration; readonly because: string }
  | { readonly kind: 'left-out'; readonly configuration: OwnConfiguration; readonly because: string }
  | { readonly kind: 'unknown'; readonly because: string };

/** A lock file has one entry for each key: the same command for the same target and compiler, with any content of the input. */
export const entryKey = ({ program, target, compiler, flags, inject, dim }: LockedProgram): string =>
  JSON.stringify([program, target, inject, dim, flags, compiler]);

/** Its name in messages. */
export const entryName = ({ program, target, compiler }: LockedProgram): string =>
  `${program}: ${target}, compiler ${compiler}`;

/** The lock file with these entries added, in place of entries with the same keys. */
export function withEntries(lock: Lock, entries: readonly LockedProgram[]): Lock {
  const all = new Map([...lock.programs, ...entries].map((entry) => [entryKey(entry), entry]));
  return { programs: [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry) };
}

export const EMPTY_LOCK: Lock = { programs: [] };

/** Version of the format. */
const LOCK_VERSION = 1;

/** A lock file cannot be used. The message says where and why, without the path. */
export class LockError extends UserError {
  override readonly name = 'LockError';
}

/** Longest text of a field in characters. Keys of workloads have about a hundred. */
const LONGEST_TEXT = 2000;

/** The text of a lock file: JSON with one line for each workload, so that a diff shows each change. Equal lock files give equal text. */
export function lockText({ programs }: Lock): string {
  const entries = programs.map((entry) => {
    const { forms, workloads, ...fields } = entry;
    const values = Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)] as const);
    const lines = [
      ...values,
      ...(forms.size === 0 ? [] : [['forms', linesOf(forms, JSON.stringify)] as const]),
    ]
      .sort(byName)
      .map(([name, value]) => `      "${name}": ${value},\n`);
    return `    {\n${lines.join('')}      "workloads": ${linesOf(workloads, workloadText)}\n    }`;
  });
  const list = entries.length === 0 ? '' : `\n${entries.join(',\n')}\n  `;
  return `{\n  "programs": [${list}],\n  "version": ${LOCK_VERSION}\n}\n`;
}

/** An object with a line for each entry. */
function linesOf<T>(entries: ReadonlyMap<string, T>, textOf: (value: T) => string): string {
  const lines = [...entries]
    .sort(byName)
    .map(([key, value]) => `\n        ${JSON.stringify(key)}: ${textOf(value)}`);
  return `{${lines.length === 0 ? '' : `${lines.join(',')}\n      `}}`;
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

/** One line. */
function workloadText(workload: LockedWorkload): string {
  switch (workload.kind) {
    case 'record': {
      const { high, low, ratio } = workload.speedup;
      const speedup = JSON.stringify({ high, low, ratio });
      return `{"configuration": ${configurationText(workload.configuration)}, "speedup": ${speedup}}`;
    }
    case 'program':
      return `{"because": ${JSON.stringify(workload.because)}, "configuration": ${configurationText(workload.configuration)}}`;
    case 'left-out':
      return `{"because": ${JSON.stringify(workload.because)}, "leftOut": ${configurationText(workload.configuration)}}`;
    case 'unknown':
      return `{"because": ${JSON.stringify(workload.because)}}`;
  }
}

/**
 * Reads untrusted text. One invalid part makes the whole file invalid, because builds that use the rest would not agree.
 * @throws LockError
 */
export function parseLock(text: string): Lock {
  const value = parseJson(text);
  if (!isObject(value)) throw new LockError('it is not a lock file');
  const { version } = value;
  if (typeof version === 'number' && version > LOCK_VERSION)
    throw new LockError(`it was written by a newer iree-compile-tuned (version ${version}): install that`);
  if (
    version !== LOCK_VERSION ||
    !hasKeys(value, ['programs', 'version']) ||
    !Array.isArray(value['programs'])
  )
    throw new LockError('it is not a lock file');
  const programs = value['programs'].map((entry: unknown, i) => toProgram(entry, `programs[${i}]`));
  const lock = withEntries(EMPTY_LOCK, programs);
  if (lock.programs.length < programs.length) throw new LockError('it has two entries of the same program');
  return lock;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const conflict = /^(?:<{7}|>{7}) /m.test(text);
    throw new LockError(
      conflict
        ? 'it has a merge conflict: keep one side, then run iree-tuned lock'
        : 'it is not JSON: restore it, or delete it and run iree-tuned lock INPUT -- FLAGS',
    );
  }
}

const FIELDS = [
  ...['compiler', 'digest', 'dim', 'flags', 'inject', 'program'],
  ...['route', 'surveyed', 'target', 'workloads'],
];

function toProgram(value: unknown, at: string): LockedProgram {
  const refuse = (what: string): never => {
    throw new LockError(`${at}${what}`);
  };
  if (!isObject(value)) return refuse(' is not the entry of a program');
  // Most programs have no forms.
  const { forms: formed = {}, ...rest } = value;
  if (!hasKeys(rest, FIELDS)) return refuse(' is not the entry of a program');
  const { program, digest, compiler, target, flags, inject, dim, route, surveyed, workloads } = rest;
  if (!isText(program) || program === '') return refuse('.program is not a path');
  if (typeof digest !== 'string' || !/^[0-9a-f]{32}$/.test(digest)) return refuse('.digest is not a digest');
  if (!isText(compiler)) return refuse('.compiler is not a text');
  if (!isText(target)) return refuse('.target is not a text');
  if (!Array.isArray(flags) || !flags.every((flag): flag is string => isText(flag) && flag.startsWith('--')))
    return refuse('.flags are not flags');
  if (!isInjectRoute(inject)) return refuse('.inject is not a route');
  const sizes = isText(dim) ? parseSizes(dim) : null;
  if (sizes === null || sizesText(sizes) !== dim) return refuse('.dim are not sizes');
  if (!isRouteOrNone(route)) return refuse('.route is not a route');
  if (typeof surveyed !== 'boolean') return refuse('.surveyed is not true or false');
  if (!isObject(formed)) return refuse('.forms is not an object');
  const forms = Object.entries(formed).map(([key, form]): [string, string] =>
    isText(key) && isText(form) ? [key, form] : refuse('.forms are not names'),
  );
  if (!isObject(workloads)) return refuse('.workloads is not an object');
  const read = Object.entries(workloads).map(([key, entry]): [string, LockedWorkload] => {
    const known = isText(key) ? toWorkload(entry) : null;
    return known === null
      ? refuse(`.workloads[${JSON.stringify(key)}] is unknown to this version`)
      : [key, known];
  });
  const fields = { program, digest, compiler, target, flags, inject, dim, route, surveyed };
  return { ...fields, forms: new Map(forms), workloads: new Map(read) };
}

function toWorkload(value: unknown): LockedWorkload | null {
  if (!isObject(value)) return null;
  const { because, configuration, leftOut, speedup } = value;
  if (hasKeys(value, ['configuration', 'speedup']))
    return isConfiguration(configuration) && isSpeedup(speedup, isDefault(configuration))
      ? { kind: 'record', configuration, speedup }
      : null;
  if (!isText(because)) return null;
  if (hasKeys(value, ['because'])) return { kind: 'unknown', because };
  if (hasKeys(value, ['because', 'configuration']))
    return isConfiguration(configuration) && !isDefault(configuration)
      ? { kind: 'program', configuration, because }
      : null;
  return hasKeys(value, ['because', 'leftOut']) && isConfiguration(leftOut) && !isDefault(leftOut)
    ? { kind: 'left-out', configuration: leftOut, because }
    : null;
}

/** One line without control characters. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT && !/\p{Cc}/u.test(value);

const isRoute = (value: unknown): value is Route => (ROUTES as readonly unknown[]).includes(value);
const isRouteOrNone = (value: unknown): value is Route | 'none' => value === 'none' || isRoute(value);
const isInjectRoute = (value: unknown): value is InjectRoute => value === 'auto' || isRoute(value);

/** A record of a configuration must be faster than the default: the lower bound is above 1. */
function isSpeedup(value: unknown, isOfDefault: boolean): value is Speedup {
  if (!isObject(value) || !hasKeys(value, ['high', 'low', 'ratio'])) return false;
  const { high, low, ratio } = value as Record<string, number>;
  const all = [low, ratio, high];
  if (!all.every((one) => typeof one === 'number' && Number.isFinite(one))) return false;
  return low! <= ratio! && ratio! <= high! && (isOfDefault ? low === 1 && high === 1 : low! > 1);
}
