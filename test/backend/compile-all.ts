// Configurations of one workload, compiled to machine code as a search compiles them. No device of the target is needed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../../src/backend/backend.ts';
import type { OwnConfiguration } from '../../src/backend/configuration.ts';
import type { Device } from '../../src/backend/device.ts';
import { configuredOperations, type ConfiguredOperation } from '../../src/backend/dumps.ts';
import { configurationKey as keyOf } from '../../src/backend/index.ts';
import { buildCandidates } from '../../src/measure/build.ts';
import { candidateOf } from '../../src/measure/candidate-module.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import type { SearchSpace } from '../../src/search/space.ts';
import { randomPoint } from '../../src/search/strategy.ts';
import { candidateLoops, matchKey, type OperationWork } from '../../src/workload/workload.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, toolchain } from '../support/real-tools.ts';

/** A target of compiles. */
export interface CompiledFor {
  readonly name: string;
  readonly backend: Backend;
  readonly flags: readonly string[];
}

/** Most configurations of one module. */
const MOST_TOGETHER = 40;

/** A toolchain for a target, with the compiler that remembers nothing. */
export async function toolchainFor(
  { name, backend, flags }: CompiledFor,
  more: readonly string[] = [],
): Promise<Toolchain> {
  const device: Device = { model: name, driver: backend.drivers[0], threads: 1, cachesKiB: [] };
  return {
    ...(await toolchain(temporaryDirectory())),
    ...{ compiler: compiler.executable, flags: [...flags, ...more], device },
  };
}

export interface Compiled {
  /** Reasons of the compiler by candidate: `c0` is the first configuration. */
  readonly refused: ReadonlyMap<string, string>;
  /** Operations of the compiler's dumps, for each configuration in order; empty for a refused candidate. */
  readonly operations: readonly (readonly ConfiguredOperation[])[];
}

/** Compiles candidates of one workload to machine code. */
export async function compileAll(
  target: CompiledFor,
  workload: OperationWork,
  configurations: readonly OwnConfiguration[],
): Promise<Compiled> {
  const dumps = temporaryDirectory();
  const tools = await toolchainFor(target, [`--iree-hal-dump-executable-configurations-to=${dumps}`]);
  const candidates = configurations.map((one, i) => candidateOf(`c${i}`, one, workload, tools.release));
  // Without the default: the compiler rejects its own default for products in f16 on gfx942 (IREE 3.13.0).
  const { refused } = await buildCandidates(tools, workload, candidates, 'all');
  const files = readdirSync(dumps);
  const operations = candidates.map(({ name }) =>
    files
      .filter((file) => new RegExp(`_(?:x_${name}|${name}_dispatch_\\d+)[_.]`).test(file))
      .flatMap((file) => configuredOperations(readFileSync(join(dumps, file)))),
  );
  return { refused, operations };
}

/** Reasons, by configuration, that configurations do not compile or do not reach the compiler's code. */
export async function failuresOf(
  target: CompiledFor,
  workload: OperationWork,
  configurations: readonly OwnConfiguration[],
): Promise<Record<string, string>> {
  const loops = candidateLoops(workload);
  const form = { workload, loops };
  const expected = new Set([matchKey(form)]);
  const { rendering } = target.backend;
  const failed: Record<string, string> = {};
  for (let begin = 0; begin < configurations.length; begin += MOST_TOGETHER) {
    const some = configurations.slice(begin, begin + MOST_TOGETHER);
    const { refused, operations } = await compileAll(target, workload, some);
    for (const [i, one] of some.entries()) {
      const reason = refused.get(`c${i}`);
      if (reason !== undefined) failed[keyOf(one)] = reason;
      else if (rendering.landedOn(operations[i]!, form, one, loops, expected).length !== 1)
        failed[keyOf(one)] = 'not in the dump';
    }
  }
  return failed;
}

/** Random points that are enough to see every configuration of a small space. */
export const MOST_TURNS = 20_000;

/** Starts of a space, then random configurations: at most `count` together. */
export function startsAndRandom(
  space: SearchSpace<OwnConfiguration>,
  count: number,
  random: () => number,
): OwnConfiguration[] {
  const found = new Map<string, OwnConfiguration>();
  for (let turn = 0; found.size < count && turn < MOST_TURNS; turn++) {
    const configuration = space.configurationAt(
      (turn < (count + 1) / 2 ? space.starts[turn] : undefined) ?? randomPoint(space, random),
    );
    if (configuration !== null) found.set(keyOf(configuration), configuration);
  }
  return [...found.values()];
}
