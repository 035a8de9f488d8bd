// Merges the layers of settings, and keeps the origin of each value. Pure.
import { readLayers, type FileSources, type Layer, type Placed } from './file-layers.ts';
import { isServer, readBases, withoutPassword } from './address.ts';
import { parseSizes } from './wanted-sizes.ts';
import { parseOwnData } from './own-data.ts';
import {
  type Definition,
  DEFINITIONS,
  type Name,
  NAMES,
  type Settings,
  shownText,
  variableOf,
} from './settings.ts';

export interface Sources extends FileSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of flags by the name of the setting. */
  readonly flags: ReadonlyMap<Name, string>;
  /** Prefix of flags in messages: `--iree-tuned-`. */
  readonly flagPrefix: string;
  readonly defaults: Pick<Settings, 'database' | 'cache' | 'lock'>;
}

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
  const of = <T extends string | number | boolean, Fallback extends T | undefined>(
    name: Name,
    { read, takes }: Definition<T>,
    fallback: Fallback,
  ): T | Fallback => {
    const found = layers.map((layer) => layer.get(name)).find((placed) => placed !== undefined);
    const value = found && read(found.text);
    if (found !== undefined && value === undefined)
      problems.push(`${found.origin}=${shownText(name, found.text)}: it takes ${takes}`);
    origins.push({ name, value: value ?? fallback, origin: value === undefined ? 'default' : found!.origin });
    return value ?? fallback;
  };
  const database = layers.map((layer) => layer.get('db')).find((placed) => placed !== undefined);
  const settings: Settings = {
    database: of('db', DEFINITIONS.db, defaults.database),
    isForeignDatabase: database?.isForeign === true,
    compiler: of('compiler', DEFINITIONS.compiler, undefined),
    onMiss: of('on-miss', DEFINITIONS['on-miss'], 'tune'),
    budgetSeconds: of('budget', DEFINITIONS.budget, 60),
    inject: of('inject', DEFINITIONS.inject, 'auto'),
    sizes: parseSizes(of('dim', DEFINITIONS.dim, '')) ?? [],
    data: parseOwnData(of('input', DEFINITIONS.input, ''))!,
    mostInput: of('max-input', DEFINITIONS['max-input'], undefined),
    device: of('device', DEFINITIONS.device, undefined),
    runner: of('runner', DEFINITIONS.runner, undefined),
    runnerTools: of('runner-tools', DEFINITIONS['runner-tools'], undefined),
    runnerCpus: of('runner-cpus', DEFINITIONS['runner-cpus'], undefined),
    forDevice: of('for-device', DEFINITIONS['for-device'], undefined),
    trust: of('trust', DEFINITIONS.trust, 'device'),
    require: of('require', DEFINITIONS.require, undefined),
    disabled: of('disable', DEFINITIONS.disable, false),
    readonly: of('readonly', DEFINITIONS.readonly, false),
    explain: of('explain', DEFINITIONS.explain, undefined),
    log: of('log', DEFINITIONS.log, undefined),
    cache: of('cache', DEFINITIONS.cache, defaults.cache),
    outputs: of('outputs', DEFINITIONS.outputs, true),
    lock: of('lock', DEFINITIONS.lock, defaults.lock),
    frozen: of('frozen', DEFINITIONS.frozen, false),
    // None for the URL of a server.
    bases: readBases(of('team', DEFINITIONS.team, undefined) ?? '') ?? [],
    teamKey: of('team-key', DEFINITIONS['team-key'], undefined),
    teamToken: of('team-token', DEFINITIONS['team-token'], undefined),
    publish: of('team-publish', DEFINITIONS['team-publish'], 'off'),
    author: of('author', DEFINITIONS.author, undefined),
    fleet: of('fleet', DEFINITIONS.fleet, undefined),
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
