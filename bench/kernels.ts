// Single matmuls: IREE's default, tuned and data-tiled code against OpenBLAS, MKL and the CPU's peak.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { findRuntimeTool } from '../src/compiler/find.ts';
import { timeModule, type ModuleRun } from '../src/measure/compare-modules.ts';
import { geometricMean, median, ratioInterval } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import { describeDevice } from '../src/backend/llvm-cpu/cpu.ts';
import { type Device } from '../src/backend/device.ts';
import { rotate } from '../src/running/comparison/rounds.ts';
import {
  BenchError,
  counted,
  jsonFile,
  readArguments,
  run,
  say,
  secondsOption,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import { openBlas, type Blas } from './shared/blas.ts';
import { buildPeak, type MeasurePeak, type Peak } from './shared/fma-peak.ts';
import { moduleText, operandBytes, operationCount, parseShape, type Shape } from './shared/shape.ts';
import { driverOf, threadsOption } from './shared/threads.ts';
import {
  describeMachine,
  HOST_FLAGS,
  lastLine,
  openWorkplace,
  root,
  wrapperEnvironment,
  type Explained,
  type Workplace,
} from './shared/workplace.ts';

const DEFAULT_SHAPES = [
  '128x128x128',
  '256x256x256',
  '512x512x512',
  '1024x1024x1024',
  '384x768x768',
  '997x997x997',
  '1x4096x4096',
  '127x255x511',
];

const USAGE = `usage: npm run bench:kernels -- [SHAPE...] [--threads N] [--rounds N] [--budget SECONDS] [--json FILE]

  SHAPE      MxNxK or MxNxKxTYPE (default: ${DEFAULT_SHAPES.join(' ')})
  --threads  1, or all threads of this machine (default 1)
  --rounds   rounds of timing (default 7)
  --budget   seconds of tuning per shape (default 60)
  --json     also write all values to FILE`;

/** Least seconds of one repetition. */
const MIN_SECONDS = 0.01;
const EFFORT = { repetitions: 15, minSeconds: MIN_SECONDS, timeoutSeconds: 600 };

const VARIANTS = ['stock', 'tuned', 'dataTiling', 'openblas', 'mkl'] as const;
type Variant = (typeof VARIANTS)[number];

/** One shape, with timers for all variants that compile. */
interface Contestants {
  readonly shape: Shape;
  readonly timers: ReadonlyMap<Variant, () => Promise<number>>;
  readonly measurePeak: MeasurePeak | null;
  readonly tuning: Tuning | null;
}

/** The wrapper's result for the matmul. */
interface Tuning {
  readonly outcome: string;
  readonly reason: string;
  readonly configuration: unknown;
  readonly speedup: unknown;
  readonly route: string;
  readonly applied: boolean | null;
}

/** One value per round; null for a variant that could not be measured. */
interface Measured {
  readonly shape: Shape;
  readonly tuning: Tuning | null;
  readonly seconds: Readonly<Record<Variant, readonly number[] | null>>;
  readonly peak: readonly Peak[] | null;
}

interface Options {
  readonly threads: number;
  readonly rounds: number;
  readonly budgetSeconds: number;
}

interface Tools {
  readonly place: Workplace;
  readonly benchmarkModule: string;
  readonly device: Device;
  readonly blas: Blas | null;
  readonly measurePeak: MeasurePeak | null;
}

async function main(): Promise<void> {
  const args = readArguments(['threads', 'rounds', 'budget', 'json'], USAGE);
  const options: Options = {
    threads: threadsOption(args),
    rounds: wholeNumber(args, 'rounds', 7),
    budgetSeconds: secondsOption(args, 'budget', 60),
  };
  const json = jsonFile(args);
  const names = args.positionals.length === 0 ? DEFAULT_SHAPES : args.positionals;
  const shapes = [...new Map(names.map(parseShape).map((shape) => [shape.name, shape])).values()];

  const place = await openWorkplace();
  const benchmarkModule = findRuntimeTool('iree-benchmark-module', place.compiler, process.env, {
    root,
    cacheDirectory: place.cacheDirectory,
  });
  if (benchmarkModule === undefined)
    throw new BenchError('iree-benchmark-module is missing: pip install iree-base-runtime');
  const driver = driverOf(options.threads);
  const machine = describeMachine(driver);
  // The libraries' routines for integers and half precision do other work than IREE's code.
  const usesF32 = shapes.some(({ elementType }) => elementType === 'f32');
  const tools: Tools = {
    place,
    benchmarkModule,
    device: describeDevice(driver),
    blas: usesF32 ? await openBlas() : null,
    measurePeak: usesF32 ? await buildPeak() : null,
  };

  // Compile everything first: a compile would disturb the timing.
  const contestants: Contestants[] = [];
  for (const shape of shapes) contestants.push(await prepare(shape, options, tools));
  const measured: Measured[] = [];
  for (const [i, item] of contestants.entries()) {
    say(`Timing ${item.shape.name} (${i + 1} of ${contestants.length}) ...`);
    measured.push(await measure(item, options));
  }

  const { version } = place.description;
  console.log(
    `IREE ${version}, ${counted(options.threads, 'thread')}, ` +
      `medians of ${counted(options.rounds, 'round')}, GFLOP/s. A ratio above 1 means that tuned is faster.\n`,
  );
  console.log(report(measured));
  writeJson(json, {
    version: 1,
    date: new Date().toISOString(),
    machine,
    versions: { iree: place.description, node: process.version, ...tools.blas?.versions },
    options: { ...options, flags: HOST_FLAGS },
    shapes: measured.map((item) => ({
      ...item,
      operations: operationCount(item.shape),
      gflops: Object.fromEntries(VARIANTS.map((variant) => [variant, rate(item, variant)])),
      tunedOver: Object.fromEntries(
        RIVALS.map((rival) => {
          const ratios = perRound(item, rival);
          return [
            rival,
            ratios && { median: median(ratios), perRound: ratios, interval: ratioInterval(ratios) },
          ];
        }),
      ),
      shareOfPeak: shareOfPeak(item),
    })),
    geometricMeans: Object.fromEntries(RIVALS.map((rival) => [rival, meanRatio(measured, rival)])),
  });
}

/** Compiles, tunes and writes the operands. */
async function prepare(shape: Shape, options: Options, tools: Tools): Promise<Contestants> {
  const { place, blas } = tools;
  const folder = join(place.folder, shape.name);
  mkdirSync(folder);
  const file = (name: string) => join(folder, name);
  const source = file('matmul.mlir');
  writeFileSync(source, moduleText(shape));
  writeFileSync(file('lhs.bin'), operandBytes(shape.elementType, shape.m * shape.k));
  writeFileSync(file('rhs.bin'), operandBytes(shape.elementType, shape.k * shape.n));
  const runs: ModuleRun = {
    tools,
    device: tools.device,
    function: { name: 'main' },
    inputs: [
      `${shape.m}x${shape.k}x${shape.elementType}=@${file('lhs.bin')}`,
      `${shape.k}x${shape.n}x${shape.elementType}=@${file('rhs.bin')}`,
    ],
  };

  const timers = new Map<Variant, () => Promise<number>>();
  const compile = async (variant: Variant, program: string, flags: readonly string[], env = process.env) => {
    const module = file(`${variant}.vmfb`);
    const result = await execa(program, [...HOST_FLAGS, ...flags, source, '-o', module], {
      reject: false,
      stdin: 'ignore',
      env: { ...env, NO_COLOR: '1' },
      extendEnv: false,
    });
    // The compiler can exit with 0 and write only a crash reproducer.
    const isWritten = result.exitCode === 0 && statSync(module, { throwIfNoEntry: false }) !== undefined;
    if (isWritten) timers.set(variant, async () => (await timeModule(runs, module, EFFORT)).seconds);
    else {
      const error = result.stderr.split('\n').find((line) => line.includes('error:'));
      say(`${shape.name}: ${variant} does not compile: ${error ?? lastLine(result)}`);
    }
  };
  say(`Compiling ${shape.name}, tuning for up to ${options.budgetSeconds} s ...`);
  await compile('stock', place.compiler.executable, []);
  await compile('dataTiling', place.compiler.executable, ['--iree-opt-data-tiling']);
  const explain = file('explain.json');
  const env = wrapperEnvironment(place, {
    DB: process.env['IREE_TUNED_DB'] || join(place.folder, 'tuning.sqlite'),
    BUDGET: String(options.budgetSeconds),
    DEVICE: tools.device.driver,
    EXPLAIN: explain,
  });
  await compile('tuned', place.wrapper, [], env);
  const tuning = readTuning(explain);
  if (tuning === null)
    say(`${shape.name}: the wrapper wrote no explain JSON, so "tuned" may be the default.`);
  else if (tuning.route === 'none') say(`${shape.name}: "tuned" is the default: ${tuning.reason}`);
  else if (tuning.applied === false) say(`${shape.name}: the configuration did not take effect.`);

  const isF32 = shape.elementType === 'f32';
  if (blas !== null && isF32)
    for (const library of ['openblas', 'mkl'] as const)
      if (blas.versions[library] !== null)
        timers.set(library, () => blas.time(library, shape, options.threads, MIN_SECONDS));
  return { shape, timers, tuning, measurePeak: isF32 ? tools.measurePeak : null };
}

function readTuning(explain: string): Tuning | null {
  let explained: Explained;
  try {
    explained = JSON.parse(readFileSync(explain, 'utf8')) as Explained;
  } catch {
    return null;
  }
  const { route, applied, reason, operations } = explained;
  const operation = operations[0];
  return {
    outcome: operation?.outcome ?? 'none',
    reason: operation?.reason ?? reason ?? 'no reason is given',
    configuration: operation?.configuration ?? null,
    speedup: operation?.speedup ?? null,
    route,
    applied,
  };
}

/** Times every variant once per round, in separate processes and a rotating order. */
async function measure(
  { shape, timers, tuning, measurePeak }: Contestants,
  options: Options,
): Promise<Measured> {
  const seconds = new Map<Variant, number[]>();
  const steps: (() => Promise<void>)[] = [];
  for (const [variant, time] of timers) {
    // This run brings the files into memory, and removes variants that cannot run.
    try {
      await time();
    } catch (error) {
      say(
        `${shape.name}: ${variant} cannot be timed: ${error instanceof Error ? error.message : String(error)}`,
      );
      continue;
    }
    const values: number[] = [];
    seconds.set(variant, values);
    steps.push(async () => {
      values.push(await time());
    });
  }
  const peak: Peak[] = [];
  if (measurePeak !== null)
    steps.push(async () => {
      peak.push(await measurePeak(options.threads));
    });
  for (let round = 0; round < options.rounds; round++) for (const step of rotate(steps, round)) await step();
  const values = Object.fromEntries(VARIANTS.map((variant) => [variant, seconds.get(variant) ?? null]));
  return {
    shape,
    tuning,
    seconds: values as Record<Variant, number[] | null>,
    peak: measurePeak === null ? null : peak,
  };
}

const RIVALS = ['stock', 'openblas', 'mkl'] as const;

/** Median GFLOP/s. */
function rate({ shape, seconds }: Measured, variant: Variant): number | null {
  const values = seconds[variant];
  return values && operationCount(shape) / median(values) / 1e9;
}

/** The rival's time over tuned's, in each round. */
function perRound({ seconds }: Measured, rival: Variant): number[] | null {
  const [tuned, other] = [seconds.tuned, seconds[rival]];
  return tuned && other && other.map((time, round) => time / tuned[round]!);
}

function shareOfPeak({ shape, seconds, peak }: Measured): number | null {
  const { tuned } = seconds;
  return (
    tuned &&
    peak &&
    median(tuned.map((time, round) => operationCount(shape) / time / 1e9 / peak[round]!.gflops))
  );
}

const meanRatio = (measured: readonly Measured[], rival: Variant): number | null =>
  meanOf(measured.map((item) => perRound(item, rival)).map((ratios) => ratios && median(ratios)));

/** Geometric mean of the known values; null if there are none. */
function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : geometricMean(known);
}

const inGflops = (value: number | null) =>
  value === null ? '-' : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
const asRatio = (value: number | null) => (value === null ? '-' : `${value.toFixed(2)}x`);
const asShare = (value: number | null) => (value === null ? '-' : `${(100 * value).toFixed(0)}%`);

function report(measured: readonly Measured[]): string {
  const rows = measured.map((item) => [
    item.shape.name,
    ...VARIANTS.map((variant) => inGflops(rate(item, variant))),
    inGflops(item.peak && median(item.peak.map(({ gflops }) => gflops))),
    ...RIVALS.map((rival) => {
      const ratios = perRound(item, rival);
      return asRatio(ratios && median(ratios));
    }),
    asShare(shareOfPeak(item)),
  ]);
  const means = [
    'geometric mean',
    ...VARIANTS.map((variant) => {
      const rates = measured.map((item) => rate(item, variant));
      // Means over different sets of shapes are not comparable.
      return inGflops(rates.includes(null) ? null : meanOf(rates));
    }),
    '-',
    ...RIVALS.map((rival) => asRatio(meanRatio(measured, rival))),
    asShare(meanOf(measured.map(shareOfPeak))),
  ];
  const header = [
    'MxNxK',
    'stock',
    'tuned',
    'data tiling',
    'OpenBLAS',
    'MKL',
    'FMA peak',
    'tuned/stock',
    'tuned/OpenBLAS',
    'tuned/MKL',
    'of peak',
  ];
  return table(header, [...rows, means]);
}

await run('bench:kernels', main);
