// Matmuls and convolutions on a Vulkan device: what stock and tuned code take, in turns, and whether they give the same.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBackend } from '../src/backend/index.ts';
import { comparisonOf, inPairs, timeModule, type ModuleRun } from '../src/measure/compare-modules.ts';
import { geometricMean } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import {
  jsonFile,
  readArguments,
  run,
  say,
  secondsOption,
  UsageError,
  writeJson,
} from './shared/arguments.ts';
import { compileBoth, openTools } from './shared/stock-and-tuned.ts';
import { openWorkplace } from './shared/workplace.ts';

/** A program of one operation: its name in linalg, and shapes of its operands and its result. */
interface Case {
  readonly operation: string;
  readonly lhs: readonly number[];
  readonly rhs: readonly number[];
  readonly result: readonly number[];
}

const matmul = (m: number, n: number, k: number): Case => ({
  ...{ operation: 'matmul', lhs: [m, k], rhs: [k, n], result: [m, n] },
});
const batch = (b: number, m: number, n: number, k: number): Case => ({
  ...{ operation: 'batch_matmul', lhs: [b, m, k], rhs: [b, k, n], result: [b, m, n] },
});
const nhwc = (n: number, size: number, filter: number, inputs: number, outputs: number): Case => ({
  operation: 'conv_2d_nhwc_hwcf',
  lhs: [n, size + filter - 1, size + filter - 1, inputs],
  rhs: [filter, filter, inputs, outputs],
  result: [n, size, size, outputs],
});
const nchw = (n: number, size: number, filter: number, inputs: number, outputs: number): Case => ({
  operation: 'conv_2d_nchw_fchw',
  lhs: [n, inputs, size + filter - 1, size + filter - 1],
  rhs: [outputs, inputs, filter, filter],
  result: [n, outputs, size, size],
});

const CASES: Readonly<Record<string, Case>> = {
  '64': matmul(64, 64, 64),
  '128': matmul(128, 128, 128),
  '256': matmul(256, 256, 256),
  '512': matmul(512, 512, 512),
  '500': matmul(500, 500, 500),
  '127x255x511': matmul(127, 255, 511),
  '1x1024x1024': matmul(1, 1024, 1024),
  batch: batch(8, 64, 64, 64),
  'odd-batch': batch(6, 50, 77, 33),
  nhwc: nhwc(1, 16, 3, 16, 32),
  'nhwc-2': nhwc(2, 14, 3, 32, 32),
  'nhwc-odd': nhwc(1, 15, 3, 21, 35),
  nchw: nchw(1, 16, 3, 16, 32),
  'nchw-2': nchw(2, 14, 3, 32, 32),
  'nchw-odd': nchw(1, 15, 3, 21, 35),
};

const USAGE = `usage: npm run bench:vulkan -- [CASE...] [--target NAME] [--budget SECONDS] [--json FILE]

  CASE      without any: ${Object.keys(CASES).join(' ')}
  --target  value of --iree-vulkan-target= (default llvmpipe, a device on the CPU)
  --budget  seconds of tuning per case (default 60)
  --json    also write every value to FILE`;

const type = (shape: readonly number[]) => `tensor<${shape.join('x')}xf32>`;

function moduleText({ operation, lhs, rhs, result }: Case): string {
  const [a, b, c] = [lhs, rhs, result].map(type) as [string, string, string];
  const steps = operation.startsWith('conv')
    ? ' {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}'
    : '';
  return `func.func @main(%a: ${a}, %b: ${b}) -> ${c} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : ${c}
  %init = linalg.fill ins(%zero : f32) outs(%empty : ${c}) -> ${c}
  %result = linalg.${operation}${steps} ins(%a, %b : ${a}, ${b}) outs(%init : ${c}) -> ${c}
  return %result : ${c}
}
`;
}

/** Small whole numbers: their sums are exact in any order. */
const operand = (shape: readonly number[], step: number): Float32Array =>
  Float32Array.from({ length: shape.reduce((all, size) => all * size, 1) }, (_, i) => ((i * step) % 7) - 3);

/** Pairs of processes for one case. */
const EXTENT = { pairs: 7, seconds: 30 };
const EFFORT = { repetitions: 5, minSeconds: 0.02, timeoutSeconds: 120 };

await run('bench:vulkan', async () => {
  const args = readArguments(['target', 'budget', 'json'], USAGE);
  const json = jsonFile(args);
  const names = args.positionals.length === 0 ? Object.keys(CASES) : args.positionals;
  const unknown = names.find((name) => !Object.hasOwn(CASES, name));
  if (unknown !== undefined) throw new UsageError(`${unknown}: there is no such case; --help lists them`);
  const target = args.options['target'] ?? 'llvmpipe';
  const flags = ['--iree-hal-target-device=vulkan', `--iree-vulkan-target=${target}`];
  await loadBackend('vulkan-spirv');
  const place = await openWorkplace();
  const budgetSeconds = secondsOption(args, 'budget', 60);
  const tools = openTools(place, { driver: 'vulkan', budgetSeconds, folder: undefined });
  const results = [];
  for (const name of names) {
    say(`Tuning and timing ${name} ...`);
    const one = CASES[name]!;
    const folder = join(place.folder, name);
    mkdirSync(folder);
    const source = join(folder, 'in.mlir');
    writeFileSync(source, moduleText(one));
    const compiled = await compileBoth(source, folder, flags, tools);
    const inputs = [one.lhs, one.rhs].map((shape, i) => {
      const path = join(folder, `${i}.bin`);
      writeFileSync(path, operand(shape, i === 0 ? 5 : 3));
      return `${shape.join('x')}xf32=@${path}`;
    });
    const outputs = [compiled.stock, compiled.tuned].map((module) => {
      const path = `${module}.bin`;
      const values = inputs.map((input) => `--input=${input}`);
      execFileSync(tools.runModule, [
        `--module=${module}`,
        '--device=vulkan',
        '--function=main',
        ...values,
        `--output=@${path}`,
      ]);
      return readFileSync(path);
    });
    const timing: ModuleRun = { ...tools, functionName: 'main', inputs };
    const { seconds, ...measured } = comparisonOf(
      await inPairs(compiled.stock, compiled.tuned, EXTENT, (module) => timeModule(timing, module, EFFORT)),
    );
    // The same bytes differ by noise alone.
    const { ratio, low, high } = compiled.sameCode ? { ratio: 1, low: 1, high: 1 } : measured;
    const operation = compiled.explanation?.operations[0];
    results.push({
      ...{ name, ratio, low, high, seconds, equal: outputs[0]!.equals(outputs[1]!) },
      ...{ landed: operation?.landed ?? null, reason: operation?.reason ?? null },
      ...{ configuration: operation?.configuration ?? null, route: compiled.explanation?.route ?? null },
    });
  }
  const mean = geometricMean(results.map(({ ratio }) => ratio));
  const ms = (seconds: number) => `${(1000 * seconds).toFixed(2)} ms`;
  console.log(
    table(
      ['case', 'stock', 'tuned', 'ratio', 'equal', 'landed', 'reason'],
      results.map(({ name, seconds, ratio, equal, landed, reason }) => [
        ...[name, ms(seconds[0]), ms(seconds[1]), `${ratio.toFixed(2)}x`],
        ...[equal ? 'yes' : 'NO', landed === null ? '-' : landed ? 'yes' : 'NO', reason ?? '-'],
      ]),
      { columns: 140, paint: (_, text) => text },
    ),
  );
  console.log(`geometric mean ${mean.toFixed(2)}x`);
  writeJson(json, { version: 1, date: new Date().toISOString(), target, budgetSeconds, mean, results });
});
