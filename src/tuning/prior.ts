// Priors predict gains of configurations that were never measured, from measurements of other shapes. `npm run make:prior` makes the
// files in `db/priors`. Without a prior a search begins with the starts of its space.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Forest } from '../search/forest.ts';
import type { Doubt } from '../search/likeness.ts';
import type { SearchSpace } from '../search/space.ts';
import { packageRoot } from '../system/package-root.ts';
import { resultOr } from '../system/result-or.ts';
import { inputTypeOf, isDynamic, type Workload } from '../workload/workload.ts';

export interface Prior {
  /** Number of features. A prior of another version of this program may have another one. */
  readonly features: number;
  readonly forest: Forest;
  readonly doubt: Doubt;
  /** Processors and element types with measurements: see `processorAndType`. */
  readonly measured: readonly string[];
}

/**
 * Family and model of the CPU in a device's key, and element type of the first operand, such as `26/2 bf16`. A device without these numbers
 * is never measured.
 */
export const processorAndType = (device: string, workload: Workload): string =>
  `${/\((\d+\/\d+)\/\d+\)/.exec(device)?.[1] ?? 'unknown'} ${inputTypeOf(workload)}`;

/** Priors by backend. */
const loaded = new Map<string, Prior | null>();

/** The prior of a backend; null if the file is missing or not valid JSON. */
function readPrior(name: string): Prior | null {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const path = join(packageRoot, 'db/priors', `${name}.json`);
  // Without a prior a search only takes longer.
  const prior = resultOr(() => JSON.parse(readFileSync(path, 'utf8')) as Prior, null);
  loaded.set(name, prior);
  return prior;
}

/**
 * The search space of a workload, guided by its prior if there is one.
 * @param device its key
 */
export function spaceWithPrior(
  backend: Backend,
  workload: Workload,
  options: SpaceOptions,
  device: string,
): SearchSpace<Configuration> {
  const tuning = backend.tuning(workload);
  const space = tuning.space(options);
  // A user's own choice of configurations is tried unchanged.
  if (isDynamic(workload) || options.only !== undefined) return space;
  const prior = readPrior(backend.name);
  const first = space.starts[0] && space.configurationAt(space.starts[0]);
  if (prior === null || !first) return space;
  if (tuning.features?.(first, options)?.length !== prior.features) return space;
  return {
    ...space,
    guide: {
      forest: prior.forest,
      doubt: prior.doubt,
      isMeasured: prior.measured.includes(processorAndType(device, workload)),
      featuresAt(point) {
        const configuration = space.configurationAt(point);
        return configuration && (tuning.features?.(configuration, options) ?? null);
      },
    },
  };
}
