// Trains the prior of each backend in `db/priors` on measurements of `bench/spaces.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSpaces, spaceFiles } from '../bench/shared/measured-spaces.ts';
import { llvmCpu } from '../src/backend/llvm-cpu/index.ts';
import { packageRoot } from '../src/system/package-root.ts';
import { trainPrior } from './prior/train.ts';

const priors = join(packageRoot, 'db/priors');
mkdirSync(priors, { recursive: true });
const spaces = spaceFiles().flatMap(readSpaces);
const prior = trainPrior(spaces);
writeFileSync(join(priors, `${llvmCpu.name}.json`), `${JSON.stringify(prior)}\n`);
const trials = spaces.reduce((sum, space) => sum + space.trials.length, 0);
console.log(
  `${llvmCpu.name}: ${trials} configurations of ${spaces.length} matmuls, off by ${prior.doubt.ofPrior}`,
);
