// The cache folder: its files, and how long each stays. Builds can make all of them again. No other file joins names onto the folder.
import { basename, dirname, join } from 'node:path';

/** One kind of files or folders. */
export interface Place {
  /** Relative to the cache folder; `*` is a digest or another name of letters, digits and dashes. */
  readonly path: string;
  /** Days until an unused file is removed. */
  readonly days: number;
}

/** Days until an unread memory is removed. */
const MEMORY_DAYS = 30;

// Facts about compilers, which are few.
export const DESCRIPTIONS: Place = { path: 'compiler-*.json', days: Infinity };
export const OPTION_TABLES: Place = { path: 'options-*.json', days: Infinity };
export const TARGETS: Place = { path: 'target-*.json', days: Infinity };
export const DEVICES: Place = { path: 'device-*.json', days: Infinity };
export const PIP_ANSWERS: Place = { path: 'pip-*.json', days: Infinity };

// Memories of inputs and plans.
export const INPUTS: Place = { path: 'inputs/input-*.json', days: MEMORY_DAYS };
export const PLANS: Place = { path: 'plans/plan-*.json', days: MEMORY_DAYS };
export const REPLAYS: Place = { path: 'replays/replay-*.json', days: MEMORY_DAYS };
export const SUBSTITUTES: Place = { path: 'substitutes/substitute-*.json', days: MEMORY_DAYS };
export const SURVEYS: Place = { path: 'surveys/survey-*.json', days: MEMORY_DAYS };

/** The output cache, limited in size by `wrapper/outputs.ts`. */
export const OUTPUTS: Place = { path: 'outputs/output-*.bin', days: MEMORY_DAYS };
export const OUTPUT_NOTES: Place = { path: 'outputs/output-*.json', days: MEMORY_DAYS };

/** Files of earlier versions: the database holds notes about programs now. */
export const PROGRAMS: Place = { path: 'programs/program-*.json', days: MEMORY_DAYS };

/** Files for the compiler. They outlive the oldest memory that names them. */
export const SPECS: Place = { path: 'specs/*.mlir', days: 3 * MEMORY_DAYS };

/** Modules that all candidates share, and their texts. */
export const COMMON_MODULES: Place = { path: 'common/*.vmfb', days: MEMORY_DAYS };
export const COMMON_TEXTS: Place = { path: 'common/*.mlir', days: MEMORY_DAYS };

/** Temporary folders of running processes: `scratch.ts`. */
export const SCRATCH: Place = { path: 'work/*', days: Infinity };

/** The launcher's notes about Nodes that start, in one folder for each boot. */
export const NODES: Place = { path: 'nodes/*', days: MEMORY_DAYS };

/** Node's compile cache. */
export const NODE_CODE: Place = { path: 'node', days: Infinity };

// Failures and misses of teams' servers.
export const BREAKERS: Place = { path: 'team/breaker-*.json', days: MEMORY_DAYS };
export const MISSING: Place = { path: 'team/missing-*.json', days: MEMORY_DAYS };
/** Locked by the process that asks a server. */
export const ASKING_LOCKS: Place = { path: 'team/asking-*.lock', days: MEMORY_DAYS };

/** Counters until `iree-tuned stats --zero` adds them up. */
export const COUNTERS: Place = { path: 'counters.jsonl', days: Infinity };
/** Counters that a process is adding up. After its death the next process takes them. */
export const TAKEN_COUNTERS: Place = { path: 'counters.jsonl.*', days: Infinity };

/** The log of builds, and its older half. */
export const BUILDS: Place = { path: 'builds.jsonl', days: Infinity };
export const OLDER_BUILDS: Place = { path: 'builds.older.jsonl', days: Infinity };

/** Locked during the write of a lock file, one for each path. */
export const WRITING_LOCKS: Place = { path: 'writing-*.lock', days: MEMORY_DAYS };

/** Locked by the process that measures on the CPU, or on the GPU of the name. */
export const MEASURING_LOCK: Place = { path: 'measuring.lock', days: Infinity };
export const GPU_LOCKS: Place = { path: 'measuring-*.lock', days: Infinity };

/** Seconds of waiting for that lock without success: `site/vain-waits.ts`. */
export const VAIN_WAITS: Place = { path: 'vain-waits.json', days: Infinity };

/** Its modification time is the last removal of unused files. */
export const TIDIED: Place = { path: 'tidied', days: Infinity };

/** Exists after a terminal has shown the introduction to tuning. */
export const INTRODUCED: Place = { path: 'introduced', days: Infinity };

/** All places. A file at a place may have a temporary neighbour for a moment. */
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
  GPU_LOCKS,
  VAIN_WAITS,
  WRITING_LOCKS,
  TIDIED,
  INTRODUCED,
];

/** Digests, and boot ids. */
const NAME = '(?:[0-9a-f-]{16,64}|any)';

/**
 * Folder of a place, and the names of its files. A user may have chosen a folder that holds other files.
 * @param end suffix of the names, as a regular expression
 */
export const filesOf = (cacheDirectory: string, { path }: Place, end = '') => ({
  folder: join(cacheDirectory, dirname(path)),
  isOurs: new RegExp(`^${basename(path).replaceAll('.', '\\.').replace('*', NAME)}${end}$`),
});

/** Path of a file at a place, with `name` for its `*`. */
export const pathIn = (cacheDirectory: string, { path }: Place, name = ''): string =>
  join(cacheDirectory, path.replace('*', name));
