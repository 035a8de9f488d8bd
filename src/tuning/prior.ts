// Priors: what measurements of other shapes say of configurations that were never measured. Each is a file below `db/priors`, made by
// `npm run make:prior`. Without one a search begins with the starts of its space.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Forest } from '../search/forest.ts';
import type { Doubt } from '../search/likeness.ts';
import type { SearchSpace } from '../search/space.ts';
import { packageRoot } from '../system/package-root.ts';
import { isDynamic, isOperationWork, type OperationWork, type Workload } from '../workload/workload.ts';

export interface Prior {
  /** How many numbers the forest asks about: another version of this program may know others. */
  readonly features: number;
  readonly forest: Forest;
  readonly doubt: Doubt;
}

/** File name of a prior, by vector registers and element types: `llvm-cpu-64x32-f32.json`. */
export const priorName = (
  { name }: Pick<Backend, 'name'>,
  { lhs, rhs }: Pick<OperationWork, 'lhs' | 'rhs'>,
  { nativeVectorBytes, vectorRegisters }: Pick<SpaceOptions, 'nativeVectorBytes' | 'vectorRegisters'>,
): string =>
  `${name}-${nativeVectorBytes}x${vectorRegisters}-${[...new Set([lhs.elementType, rhs.elementType])].join('-')}.json`;

const loaded = new Map<string, Prior | null>();

/** Null where there is none, or none of this version. */
function readPrior(name: string): Prior | null {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  let prior: Prior | null = null;
  try {
    prior = JSON.parse(readFileSync(join(packageRoot, 'db/priors', name), 'utf8')) as Prior;
  } catch {
    // A search takes longer without one.
  }
  loaded.set(name, prior);
  return prior;
}

/** The search space of a workload, with what a prior says of it. */
export function spaceWithPrior(
  backend: Backend,
  workload: Workload,
  options: SpaceOptions,
): SearchSpace<Configuration> {
  const space = backend.spaceOf(workload, options);
  // What a user allows is tried as he says.
  if (!isOperationWork(workload) || isDynamic(workload) || options.only !== undefined) return space;
  const prior = readPrior(priorName(backend, workload, options));
  const first = space.starts[0] && space.configurationAt(space.starts[0]);
  if (prior === null || !first) return space;
  if (backend.featuresOf(workload, first, options)?.length !== prior.features) return space;
  return {
    ...space,
    guide: {
      forest: prior.forest,
      doubt: prior.doubt,
      featuresAt(point) {
        const configuration = space.configurationAt(point);
        return configuration && backend.featuresOf(workload, configuration, options);
      },
    },
  };
}
