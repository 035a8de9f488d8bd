// The cache folder: its files, and how long each stays. Builds can make all of them again. No other file joins names onto the folder.
import { basename, dirname, join } from 'node:path';
import { namesIn } from './files.ts';

/** One kind of files or folders. */
export interface Place {
  /** Relative to the cache folder; `*` is a digest or another name of letters, digits and dashes. */
  readonly path: string;
  /** Days until an unused file is removed. */
  readonly days: number;
}

const places: Place[] = [];

/** All places. A file at a place may have a temporary neighbour for a moment. */
export const PLACES: readonly Place[] = places;

function place(path: string, days = Infinity): Place {
  places.push({ path, days });
  return { path, days };
}

/** Days until an unread memory is removed. */
const MEMORY_DAYS = 30;

// Facts about compilers, which are few.
export const DESCRIPTIONS = place('compiler-*.json');
export const OPTION_TABLES = place('options-*.json');
export const TARGETS = place('target-*.json');
export const DEVICES = place('device-*.json');
export const PIP_ANSWERS = place('pip-*.json');

// Memories of inputs and plans.
export const INPUTS = place('inputs/input-*.json', MEMORY_DAYS);
export const PLANS = place('plans/plan-*.json', MEMORY_DAYS);
export const REPLAYS = place('replays/replay-*.json', MEMORY_DAYS);
export const SUBSTITUTES = place('substitutes/substitute-*.json', MEMORY_DAYS);
export const SURVEYS = place('surveys/survey-*.json', MEMORY_DAYS);

/** The output cache, limited in size by `wrapper/outputs.ts`. */
export const OUTPUTS = place('outputs/output-*.bin', MEMORY_DAYS);
export const OUTPUT_NOTES = place('outputs/output-*.json', MEMORY_DAYS);

/** Notes about delivered modules, limited in size by `report/module-note.ts`. */
export const MODULES = place('modules/module-*.json', 12 * MEMORY_DAYS);

/** Files for the compiler. They outlive the oldest memory that names them. */
export const SPECS = place('specs/*.mlir', 3 * MEMORY_DAYS);

/** Modules that all candidates share, and their texts. */
export const COMMON_MODULES = place('common/*.vmfb', MEMORY_DAYS);
export const COMMON_TEXTS = place('common/*.mlir', MEMORY_DAYS);

/** Temporary folders of running processes: `scratch.ts`. */
export const SCRATCH = place('work/*');

/** The launcher's notes about Nodes that start, in one folder for each boot. */
export const NODES = place('nodes/*', MEMORY_DAYS);

/** Node's compile cache. */
export const NODE_CODE = place('node');

/** Databases of a team's bases (`base/installed.ts`). A removed folder would forget the number of its head. */
export const BASES = place('bases/*');

/** The log of builds, and its older half. */
export const BUILDS = place('builds.jsonl');
export const OLDER_BUILDS = place('builds.older.jsonl');

/** Locked during the write of a lock file, one for each path. */
export const WRITING_LOCKS = place('writing-*.lock', MEMORY_DAYS);

/** Locked by the process that measures on the CPU, or on the GPU of the name. */
export const MEASURING_LOCK = place('measuring.lock');
export const GPU_LOCKS = place('measuring-*.lock');

/** Programs and facts of other machines that run programs (`runner/runner.ts`), and the locks of builds that measure there. */
export const RUNNERS = place('runners/*', MEMORY_DAYS);
export const RUNNER_LOCKS = place('runners/*.lock', MEMORY_DAYS);

/** Processes of measurements on a device that do not end: `system/unkillable.ts`. */
export const UNKILLABLE = place('unkillable-*.json', MEMORY_DAYS);

/** Seconds of waits for locks that timed out: `system/patience.ts`. */
export const LOCK_TIMEOUTS = place('vain-waits.json');

/** Its modification time is the last removal of unused files. */
export const TIDIED = place('tidied');

/** Exists after a terminal has shown the introduction to tuning. */
export const INTRODUCED = place('introduced');
/** Exists after a terminal has shown why this machine measures nothing. The name is the digest of the reason. */
export const UNMEASURED = place('unmeasured-*');

/** Digests, and boot ids. */
const NAME = '(?:[0-9a-f-]{16,64}|any)';

/**
 * Paths of the files at a place. A user may have chosen a folder that holds other files.
 * @param end suffix of the names, as a regular expression
 */
export function filesAt(cacheDirectory: string, { path }: Place, end = ''): string[] {
  const folder = join(cacheDirectory, dirname(path));
  const isOurs = new RegExp(`^${basename(path).replaceAll('.', '\\.').replace('*', NAME)}${end}$`);
  return namesIn(folder)
    .filter((name) => isOurs.test(name))
    .map((name) => join(folder, name));
}

/** Path of a file at a place, with `name` for its `*`. */
export const pathIn = (cacheDirectory: string, { path }: Place, name = ''): string =>
  join(cacheDirectory, path.replace('*', name));
