// Trains the priors in `db/priors` on measurements of `bench/spaces.ts`.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSpaces } from '../bench/shared/measured-spaces.ts';
import { llvmCpu } from '../src/backend/llvm-cpu/index.ts';
import { packageRoot } from '../src/system/package-root.ts';
import { priorName } from '../src/tuning/prior.ts';
import { trainPrior } from './prior/train.ts';

const data = join(packageRoot, 'bench/data/spaces');
const priors = join(packageRoot, 'db/priors');
mkdirSync(priors, { recursive: true });
const spaces = readdirSync(data).flatMap((file) => readSpaces(join(data, file)));
const groups = Map.groupBy(spaces, ({ workload, options }) => priorName(llvmCpu, workload, options));
for (const [name, own] of groups) {
  const prior = trainPrior(own);
  writeFileSync(join(priors, name), `${JSON.stringify(prior)}\n`);
  const trials = own.reduce((sum, space) => sum + space.trials.length, 0);
  console.log(`${name}: ${trials} configurations of ${own.length} shapes, off by ${prior.doubt.ofPrior}`);
}
