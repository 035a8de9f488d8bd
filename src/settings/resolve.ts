// Merges the layers of settings, without those that a project's file may not set, and keeps the origin of each value. Pure.
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isServer, readBases, withoutPassword } from './address.ts';
import type { ConfigEntry, ConfigText, ConfigValue } from './config-text.ts';
import type { OutputName, SettingsFile } from './files.ts';
import { parseOwnData } from './own-data.ts';
import {
  type Definition,
  DEFINITIONS,
  isName,
  type Name,
  NAMES,
  type Settings,
  shownText,
  variableOf,
} from './settings.ts';
import { parseSizes } from './wanted-sizes.ts';

export interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of flags by the name of the setting. */
  readonly flags: ReadonlyMap<Name, string>;
  /** Prefix of flags in messages: `--iree-tuned-`. */
  readonly flagPrefix: string;
  /** In order of precedence. */
  readonly files: readonly SettingsFile[];
  readonly parse: (text: string) => ConfigText;
  readonly home: string;
  /** Resolves links in the path of an existing or new file; null if it cannot. */
  readonly realPath: (path: string) => string | null;
  /** See `mayOverwrite`. */
  readonly mayOverwrite: (name: OutputName, path: string) => boolean;
  readonly defaults: Pick<Settings, 'database' | 'cache' | 'lock'>;
}

/** A value as text, and its origin. */
interface Placed {
  readonly text: string;
  readonly origin: string;
  /** Whether it comes from a project that the user does not trust. */
  readonly isForeign?: boolean;
}

type Layer = ReadonlyMap<Name, Placed>;

export interface Resolution {
  /** An invalid value has the default. */
  readonly settings: Settings;
  /** Every setting, in the order of `NAMES`. */
  readonly origins: readonly {
    readonly name: Name;
    readonly value: string | number | boolean | undefined;
    /** A flag, a variable, the path of a file, or `default`. */
    readonly origin: string;
  }[];
  /** Invalid values. Builds do not tune while there are any. */
  readonly problems: readonly string[];
  /** Ignored settings of files. */
  readonly refused: readonly string[];
}

type ValueOf<N extends Name> = NonNullable<ReturnType<(typeof DEFINITIONS)[N]['read']>>;

/** Precedence: flag, variable, files in their order, default. */
export function resolveSettings(sources: Sources): Resolution {
  const { env, flags, flagPrefix, defaults } = sources;
  const problems: string[] = [];
  const variables = NAMES.flatMap((name): [Name, Placed][] => {
    const text = env[variableOf(name)];
    return text === undefined || text === '' ? [] : [[name, { text, origin: variableOf(name) }]];
  });
  const inFiles = readLayers(sources);
  const layers: readonly Layer[] = [
    new Map([...flags].map(([name, text]) => [name, { text, origin: flagPrefix + name }])),
    new Map(variables),
    ...inFiles.layers,
  ];
  const origins: Resolution['origins'][number][] = [];
  const placedOf = (name: Name) =>
    layers.map((layer) => layer.get(name)).find((placed) => placed !== undefined);
  const of = <N extends Name, Fallback extends ValueOf<N> | undefined>(
    name: N,
    fallback: Fallback,
  ): ValueOf<N> | Fallback => {
    const { read, takes } = DEFINITIONS[name] as Definition<ValueOf<N>>;
    const found = placedOf(name);
    const value = found && read(found.text);
    if (found !== undefined && value === undefined)
      problems.push(`${found.origin}=${shownText(name, found.text)}: it takes ${takes}`);
    origins.push({ name, value: value ?? fallback, origin: value === undefined ? 'default' : found!.origin });
    return value ?? fallback;
  };
  const settings: Settings = {
    database: of('db', defaults.database),
    isForeignDatabase: placedOf('db')?.isForeign === true,
    compiler: of('compiler', undefined),
    onMiss: of('on-miss', 'tune'),
    budgetSeconds: of('budget', 60),
    inject: of('inject', 'auto'),
    sizes: parseSizes(of('dim', '')) ?? [],
    data: parseOwnData(of('input', ''))!,
    mostInput: of('max-input', undefined),
    device: of('device', undefined),
    runner: of('runner', undefined),
    runnerTools: of('runner-tools', undefined),
    runnerCpus: of('runner-cpus', undefined),
    forDevice: of('for-device', undefined),
    trust: of('trust', 'device'),
    require: of('require', undefined),
    disabled: of('disable', false),
    readonly: of('readonly', false),
    explain: of('explain', undefined),
    log: of('log', undefined),
    cache: of('cache', defaults.cache),
    outputs: of('outputs', true),
    lock: of('lock', defaults.lock),
    frozen: of('frozen', false),
    // None for the URL of a server.
    bases: readBases(of('team', undefined) ?? '') ?? [],
    teamKey: of('team-key', undefined),
    teamToken: of('team-token', undefined),
    publish: of('team-publish', 'off'),
    author: of('author', undefined),
    fleet: of('fleet', undefined),
  };
  const team = String(origins.find(({ name }) => name === 'team')!.value ?? '');
  return {
    settings,
    origins,
    problems: [...inFiles.problems, ...problems],
    refused: [...inFiles.refused, ...(isServer(team) ? [serverIgnored(team)] : [])],
  };
}

const serverIgnored = (url: string): string =>
  `the setting team is ignored: a team shares a folder or a web server now, and no PostgreSQL server. To move, run iree-tuned team export ` +
  `${withoutPassword(url)} FILE and iree-tuned team publish FOLDER FILE, then set team to FOLDER`;

/** Key of the list of projects that the user trusts. */
const TRUST_KEY = 'trusted-projects';

/** @returns a layer for each file; `problems` and `refused` as in `Resolution` */
function readLayers({ files, parse, home, realPath, mayOverwrite }: Sources) {
  const problems: string[] = [];
  const refused: string[] = [];
  const contents = files.map((file) => ({
    file,
    folder: dirname(file.path),
    ...(file.text === null ? { entries: [], problem: null } : parse(file.text)),
  }));
  for (const { file, problem } of contents) {
    if (problem !== null) problems.push(`${file.path}:${problem}`);
    if (file.problem !== null) refused.push(`${file.path} is ignored: ${file.problem}`);
  }
  const trusted = contents.flatMap(({ file, folder, entries }) =>
    file.layer === 'project' ? [] : trustedBy(entries).map((path) => realPath(placeOf(path, folder, home))),
  );
  const userPath = files.find(({ layer }) => layer === 'user')?.path ?? "the user's settings";
  const layers = contents.map(({ file, folder, entries }): Layer => {
    const own = file.layer === 'project' ? realPath(folder) : null;
    const isFree = file.layer !== 'project' || trusted.some((root) => isInside(own, root));
    const layer = new Map<Name, Placed>();
    for (const { key, value, line, column } of entries) {
      const at = `${file.path}:${line}:${column}: "${key}"`;
      const problem = problemOf(key, value);
      if (problem !== null) {
        problems.push(at + problem);
      } else if (isName(key)) {
        const { text, paths } = withAbsolutePaths(key, String(value), folder, home);
        const isOutside = (path: string) => isServer(path) || !isInside(realPath(path), own);
        const why = isFree ? null : whyRefused(key, paths, isOutside, mayOverwrite);
        if (why === null) layer.set(key, { text, origin: file.path, isForeign: !isFree });
        else
          refused.push(
            `${at} is ignored: ${why}; to allow it, add "${folder}" to "${TRUST_KEY}" in ${userPath}`,
          );
      } else if (file.layer === 'project') {
        refused.push(`${at} is ignored: a project cannot trust itself`);
      }
    }
    return layer;
  });
  return { layers, problems, refused };
}

/** The error in an entry; null for none. */
function problemOf(key: string, value: ConfigValue): string | null {
  if (key === TRUST_KEY) return isPathList(value) ? null : ': it takes a list of folders';
  if (!isName(key)) return ` is unknown: the keys are ${[...NAMES, TRUST_KEY].join(', ')}`;
  const { type, takes, read } = DEFINITIONS[key];
  const types = type === 'duration' ? ['number', 'string'] : [type];
  const isAccepted = types.includes(typeof value) && read(String(value)) !== undefined;
  const shown = typeof value === 'string' ? shownText(key, value) : value;
  return isAccepted ? null : `: ${JSON.stringify(shown)}: it takes ${takes}`;
}

const trustedBy = (entries: readonly ConfigEntry[]) =>
  entries.flatMap(({ key, value }) => (key === TRUST_KEY && isPathList(value) ? value : []));

/** Why a project may not set a value, such as a command or a path outside the project; null if it may. */
function whyRefused(
  name: Name,
  paths: readonly string[],
  isOutside: (path: string) => boolean,
  mayOverwrite: Sources['mayOverwrite'],
): string | null {
  const { whyNotProject }: Definition<unknown> = DEFINITIONS[name];
  if (whyNotProject !== undefined) return whyNotProject;
  if (paths.some(isOutside)) return 'the path is outside the project';
  const isLost = (name === 'explain' || name === 'log') && paths.some((path) => !mayOverwrite(name, path));
  return isLost ? 'it would overwrite a file of another program' : null;
}

/** A value with absolute paths, and these paths; the URL of a server stays. */
function withAbsolutePaths(name: Name, text: string, folder: string, home: string) {
  const { withPaths }: Definition<unknown> = DEFINITIONS[name];
  const paths: string[] = [];
  const isStderr = name === 'explain' && text === '-';
  if (withPaths === undefined || isStderr) return { text, paths };
  const change = (path: string) => {
    const own = isServer(text) ? path : placeOf(path, folder, home);
    paths.push(own);
    return own;
  };
  return { text: withPaths(text, change), paths };
}

/** An absolute path. No shell expands `~` in a settings file. */
const placeOf = (text: string, folder: string, home: string) =>
  text === '~' || text.startsWith('~/') ? join(home, text.slice(1)) : resolve(folder, text);

const isPathList = (value: ConfigValue): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');

function isInside(path: string | null, folder: string | null): boolean {
  if (path === null || folder === null) return false;
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
