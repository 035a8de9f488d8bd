// The cache folder: what lies in it, and for how long. All of it can be made again. Nobody else joins a name onto that
// folder, so this is the list; beside any of its files lies another one for a moment, before it is renamed to it.
import { basename, dirname, join } from 'node:path';

/** One kind of files or folders. */
export interface Place {
  /** Below the cache folder; `*` is a digest or another name of letters, digits and dashes. */
  readonly path: string;
  /** Days until an unused file is removed. */
  readonly days: number;
}

/** A memory that no build has read for so long is not worth its space. */
const MEMORY_DAYS = 30;

/** For ever, unless something else than time ends it. */
const ANY_DAYS = Infinity;

// Facts of compilers. They are few.
export const DESCRIPTIONS: Place = { path: 'compiler-*.json', days: ANY_DAYS };
export const OPTION_TABLES: Place = { path: 'options-*.json', days: ANY_DAYS };
export const TARGETS: Place = { path: 'target-*.json', days: ANY_DAYS };
export const DEVICES: Place = { path: 'device-*.json', days: ANY_DAYS };
export const PIP_ANSWERS: Place = { path: 'pip-*.json', days: ANY_DAYS };

// Memories of inputs and plans.
export const INPUTS: Place = { path: 'inputs/input-*.json', days: MEMORY_DAYS };
export const PLANS: Place = { path: 'plans/plan-*.json', days: MEMORY_DAYS };
export const REPLAYS: Place = { path: 'replays/replay-*.json', days: MEMORY_DAYS };
export const SUBSTITUTES: Place = { path: 'substitutes/substitute-*.json', days: MEMORY_DAYS };
export const SURVEYS: Place = { path: 'surveys/survey-*.json', days: MEMORY_DAYS };

/** The output cache, limited in size by `wrapper/outputs.ts`. */
export const OUTPUTS: Place = { path: 'outputs/output-*.bin', days: MEMORY_DAYS };
export const OUTPUT_NOTES: Place = { path: 'outputs/output-*.json', days: MEMORY_DAYS };

/** Of earlier versions: databases hold notes about programs now. */
export const PROGRAMS: Place = { path: 'programs/program-*.json', days: MEMORY_DAYS };

/** Files for the compiler. They outlive the oldest memory that names them. */
export const SPECS: Place = { path: 'specs/*.mlir', days: 3 * MEMORY_DAYS };

/** What all modules of candidates are loaded or compiled with. */
export const COMMON_MODULES: Place = { path: 'common/*.vmfb', days: MEMORY_DAYS };
export const COMMON_TEXTS: Place = { path: 'common/*.mlir', days: MEMORY_DAYS };

/** Folders that are wanted for a moment, and are removed with the process that made them: `scratch.ts`. */
export const SCRATCH: Place = { path: 'work/*', days: ANY_DAYS };

/** The launcher's notes of Nodes that have answered, a folder for each start of the machine. */
export const NODES: Place = { path: 'nodes/*', days: MEMORY_DAYS };

/** Node's own, of our code as its engine has compiled it. */
export const NODE_CODE: Place = { path: 'node', days: ANY_DAYS };

// Of teams' servers: failures and missing workloads.
export const BREAKERS: Place = { path: 'team/breaker-*.json', days: MEMORY_DAYS };
export const MISSING: Place = { path: 'team/missing-*.json', days: MEMORY_DAYS };
/** Locked by the process that asks a server. */
export const ASKING_LOCKS: Place = { path: 'team/asking-*.lock', days: MEMORY_DAYS };

/** Until `iree-tuned stats` collects it. */
export const COUNTERS: Place = { path: 'counters.jsonl', days: ANY_DAYS };
/** Counters that are added up; the next process takes leftovers of a killed one. */
export const TAKEN_COUNTERS: Place = { path: 'counters.jsonl.*', days: ANY_DAYS };

/** The log of builds, and its older half. */
export const BUILDS: Place = { path: 'builds.jsonl', days: ANY_DAYS };
export const OLDER_BUILDS: Place = { path: 'builds.older.jsonl', days: ANY_DAYS };

/** Locked while a lock file is written, one for each path. */
export const WRITING_LOCKS: Place = { path: 'writing-*.lock', days: MEMORY_DAYS };

/** Locked by the process that measures. */
export const MEASURING_LOCK: Place = { path: 'measuring.lock', days: ANY_DAYS };

/** Seconds of waiting in vain for that lock, see `site/vain-waits.ts`. */
export const VAIN_WAITS: Place = { path: 'vain-waits.json', days: ANY_DAYS };

/** Its time says when unused files were last removed. */
export const TIDIED: Place = { path: 'tidied', days: ANY_DAYS };

/** Says that the introduction to tuning was shown on a terminal. */
export const INTRODUCED: Place = { path: 'introduced', days: ANY_DAYS };

/** All there is. */
export const PLACES: readonly Place[] = [
  DESCRIPTIONS,
  OPTION_TABLES,
  TARGETS,
  DEVICES,
  PIP_ANSWERS,
  INPUTS,
  PLANS,
  REPLAYS,
  SUBSTITUTES,
  SURVEYS,
  OUTPUTS,
  OUTPUT_NOTES,
  PROGRAMS,
  SPECS,
  COMMON_MODULES,
  COMMON_TEXTS,
  SCRATCH,
  NODES,
  NODE_CODE,
  BREAKERS,
  MISSING,
  ASKING_LOCKS,
  COUNTERS,
  BUILDS,
  OLDER_BUILDS,
  TAKEN_COUNTERS,
  MEASURING_LOCK,
  VAIN_WAITS,
  WRITING_LOCKS,
  TIDIED,
  INTRODUCED,
];

/** Digests, and the identifier of a start of the machine. */
const NAME = '(?:[0-9a-f-]{16,64}|any)';

/**
 * Where files of a place lie, and how their names read. The folder may be one that a user chose for more than this.
 * @param end of their names, as a regular expression
 */
export const filesOf = (cacheDirectory: string, { path }: Place, end = '') => ({
  folder: join(cacheDirectory, dirname(path)),
  isOurs: new RegExp(`^${basename(path).replaceAll('.', '\\.').replace('*', NAME)}${end}$`),
});

/** Path of a file at a place, with `name` for its `*`. */
export const pathIn = (cacheDirectory: string, { path }: Place, name = ''): string =>
  join(cacheDirectory, path.replace('*', name));
