// The cache folder: what lies in it, and for how long. All of it can be made again. Nobody else joins a name onto that
// folder, so this is the list; beside any of its files lies another one for a moment, before it is renamed to it.
import { basename, dirname, join } from 'node:path';

/** One kind of files or folders. */
export interface Place {
  /** Below the cache folder; `*` is what tells several apart: letters, digits, dashes. */
  readonly path: string;
  /** So long stays what is neither read nor written; what does not go with time says how it goes. */
  readonly days: number;
}

/** What is remembered of an input and not asked for in this time is worth less than its place. */
const MEMORY_DAYS = 30;

/** For ever, unless something else than time ends it. */
const ANY_DAYS = Infinity;

// Facts of compilers. They are few.
export const DESCRIPTIONS: Place = { path: 'compiler-*.json', days: ANY_DAYS };
export const OPTION_TABLES: Place = { path: 'options-*.json', days: ANY_DAYS };
export const TARGETS: Place = { path: 'target-*.json', days: ANY_DAYS };
export const PIP_ANSWERS: Place = { path: 'pip-*.json', days: ANY_DAYS };

// What is remembered of inputs and plans.
export const PLANS: Place = { path: 'plans/plan-*.json', days: MEMORY_DAYS };
export const REPLAYS: Place = { path: 'replays/replay-*.json', days: MEMORY_DAYS };
export const SUBSTITUTES: Place = { path: 'substitutes/substitute-*.json', days: MEMORY_DAYS };
export const SURVEYS: Place = { path: 'surveys/survey-*.json', days: MEMORY_DAYS };

/** The output cache, limited in size by `wrapper/outputs.ts`. */
export const OUTPUTS: Place = { path: 'outputs/output-*.bin', days: MEMORY_DAYS };
export const OUTPUT_NOTES: Place = { path: 'outputs/output-*.json', days: MEMORY_DAYS };

/** Of earlier versions: databases hold what is known of programs. */
export const PROGRAMS: Place = { path: 'programs/program-*.json', days: MEMORY_DAYS };

/** What compilers read. A memory that names one may be as old as memories become, and then a compiler is about to read it. */
export const SPECS: Place = { path: 'specs/*.mlir', days: 3 * MEMORY_DAYS };

/** Folders that are wanted for a moment, and are removed with the process that made them: `scratch.ts`. */
export const SCRATCH: Place = { path: 'work/*', days: ANY_DAYS };

/** The launcher's notes of Nodes that have answered, a folder for each start of the machine. */
export const NODES: Place = { path: 'nodes/*', days: MEMORY_DAYS };

/** Node's own, of our code as its engine has compiled it. */
export const NODE_CODE: Place = { path: 'node', days: ANY_DAYS };

// Of teams' servers: one that has failed, and what one did not know.
export const BREAKERS: Place = { path: 'team/breaker-*.json', days: MEMORY_DAYS };
export const MISSING: Place = { path: 'team/missing-*.json', days: MEMORY_DAYS };
/** Locked by whoever asks one. */
export const ASKING_LOCKS: Place = { path: 'team/asking-*.lock', days: MEMORY_DAYS };

/** Until `iree-tuned stats` collects it. */
export const COUNTERS: Place = { path: 'counters.jsonl', days: ANY_DAYS };
/** While they are added up; what a killed process has left there is taken by the next. */
export const TAKEN_COUNTERS: Place = { path: 'counters.jsonl.*', days: ANY_DAYS };

/** The log of builds, and its older half. */
export const BUILDS: Place = { path: 'builds.jsonl', days: ANY_DAYS };
export const OLDER_BUILDS: Place = { path: 'builds.older.jsonl', days: ANY_DAYS };

/** Locked while a lock file is written, one for each path. */
export const WRITING_LOCKS: Place = { path: 'writing-*.lock', days: MEMORY_DAYS };

/** Locked by whoever measures. */
export const MEASURING_LOCK: Place = { path: 'measuring.lock', days: ANY_DAYS };

/** Its time says when somebody last looked for what is not used any more. */
export const TIDIED: Place = { path: 'tidied', days: ANY_DAYS };

/** That a person at a terminal has been told what tuning is. */
export const INTRODUCED: Place = { path: 'introduced', days: ANY_DAYS };

/** All there is. */
export const PLACES: readonly Place[] = [
  DESCRIPTIONS,
  OPTION_TABLES,
  TARGETS,
  PIP_ANSWERS,
  PLANS,
  REPLAYS,
  SUBSTITUTES,
  SURVEYS,
  OUTPUTS,
  OUTPUT_NOTES,
  PROGRAMS,
  SPECS,
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

/** Path of what is kept at a place, with `name` for its `*`. */
export const pathIn = (cacheDirectory: string, { path }: Place, name = ''): string =>
  join(cacheDirectory, path.replace('*', name));
