// Matmuls and convolutions on a GPU, or on llvmpipe: times of stock and tuned code in turns, and whether both give the same result.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  comparisonOf,
  inPairs,
  timeModule,
  type ModuleComparison,
  type ModuleRun,
} from '../src/measure/compare-modules.ts';
import { geometricMean } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import { CASES, moduleText, operandBytes } from './gpu/cases.ts';
import { cublasSeconds } from './gpu/cublas.ts';
import { deviceOf, TARGETS } from './gpu/targets.ts';
import {
  BenchError,
  jsonFile,
  readArguments,
  run,
  say,
  secondsOption,
  UsageError,
  writeJson,
} from './shared/arguments.ts';
import { compileBoth, openTools } from './shared/stock-and-tuned.ts';
import { aboutRun, openWorkplace } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:gpu -- [CASE...] [--target NAME] [--chip NAME] [--budget SECONDS] [--json FILE]

  CASE      one of ${Object.keys(CASES).join(' ')} (default: all)
  --target  ${Object.keys(TARGETS).join(', ')} (default vulkan)
  --chip    the GPU to compile for (default: from the device; vulkan detects only llvmpipe)
  --budget  seconds of tuning per case (default 60)
  --json    also write all values to FILE`;

/** Pairs of processes for one case. */
const EXTENT = { pairs: 7, seconds: 30 };
const EFFORT = { repetitions: 5, minSeconds: 0.02, timeoutSeconds: 120 };

export interface Case extends ModuleComparison {
  readonly name: string;
  readonly equal: boolean;
  readonly landed: boolean | null;
  readonly reason: string | null;
  readonly configuration: unknown;
  readonly route: string | null;
  /** Null for another operation than a matmul, and for another target than CUDA. */
  readonly cublasSeconds: number | null;
}

await run('bench:gpu', async () => {
  const args = readArguments(['target', 'chip', 'budget', 'json'], USAGE);
  const json = jsonFile(args);
  const names = args.positionals.length === 0 ? Object.keys(CASES) : args.positionals;
  const unknown = names.find((name) => !Object.hasOwn(CASES, name));
  if (unknown !== undefined) throw new UsageError(`${unknown}: there is no such case; --help lists them`);
  const targetName = args.options['target'] ?? 'vulkan';
  const target = TARGETS[targetName];
  if (target === undefined)
    throw new UsageError(`--target ${targetName}: it takes ${Object.keys(TARGETS).join(', ')}`);
  const budgetSeconds = secondsOption(args, 'budget', 60);
  const place = await openWorkplace();
  const device = await deviceOf(target, place);
  if (typeof device === 'string') throw new BenchError(device);
  const chip = args.options['chip'] ?? target.chipOf(device);
  if (chip === null) throw new UsageError(`--chip is missing: the compiler's name of ${device.model}`);
  const tools = { ...openTools(place, { driver: target.driver, budgetSeconds, folder: undefined }), device };
  const flags = target.flags(chip);
  const about = aboutRun('gpu', target.driver, { iree: place.description });
  const results: Case[] = [];
  for (const name of names) {
    say(`Tuning and timing ${name} ...`);
    const one = CASES[name]!;
    const folder = join(place.folder, name);
    mkdirSync(folder);
    const source = join(folder, 'in.mlir');
    writeFileSync(source, moduleText(one));
    const compiled = await compileBoth(source, folder, flags, tools);
    if (compiled.state !== 'compiled by both')
      throw new BenchError(`${name}: ${compiled.state}: ${compiled.error}`);
    const inputs = [one.lhs, one.rhs].map((shape, i) => {
      const path = join(folder, `${i}.bin`);
      writeFileSync(path, operandBytes(shape, one.type, i === 0 ? 5 : 3));
      return `${shape.join('x')}x${one.type}=@${path}`;
    });
    const outputs = [compiled.stock, compiled.tuned].map((module) => {
      const path = `${module}.bin`;
      execFileSync(tools.runModule, [
        `--module=${module}`,
        ...[`--device=${target.driver}`, '--function=main'],
        ...inputs.map((input) => `--input=${input}`),
        `--output=@${path}`,
      ]);
      return readFileSync(path);
    });
    const timing: ModuleRun = { tools, device: tools.device, function: { name: 'main' }, inputs };
    const { seconds, ...measured } = comparisonOf(
      await inPairs(
        compiled.stock,
        compiled.tuned,
        EXTENT,
        async (module) => (await timeModule(timing, module, EFFORT)).seconds,
      ),
    );
    // The times of the same code differ only by noise.
    const { ratio, low, high } = compiled.sameCode ? { ratio: 1, low: 1, high: 1 } : measured;
    const operation = compiled.explanation?.operations[0];
    results.push({
      ...{ name, ratio, low, high, seconds, equal: outputs[0]!.equals(outputs[1]!) },
      ...{ landed: operation?.landed ?? null, reason: operation?.reason ?? null },
      ...{ configuration: operation?.configuration ?? null, route: compiled.explanation?.route ?? null },
      cublasSeconds: targetName === 'cuda' ? await cublasSeconds(one) : null,
    });
  }
  const mean = geometricMean(results.map(({ ratio }) => ratio));
  const ms = (seconds: number | null) => (seconds === null ? '-' : `${(1000 * seconds).toFixed(3)} ms`);
  console.log(
    table(
      ['case', 'stock', 'tuned', 'cuBLAS', 'ratio', 'equal', 'landed', 'reason'],
      results.map(({ name, seconds, cublasSeconds: peer, ratio, equal, landed, reason }) => [
        ...[name, ms(seconds[0]), ms(seconds[1]), ms(peer), `${ratio.toFixed(2)}x`],
        ...[equal ? 'yes' : 'NO', landed === null ? '-' : landed ? 'yes' : 'NO', reason ?? '-'],
      ]),
      { columns: 140, paint: (_, text) => text },
    ),
  );
  console.log(`${device.model}: geometric mean ${mean.toFixed(2)}x`);
  writeJson(json, {
    ...{ ...about, target: targetName, chip, device },
    ...{ budgetSeconds, mean, results },
  });
  if (results.some(({ equal }) => !equal))
    throw new BenchError('stock and tuned code give different results');
});
