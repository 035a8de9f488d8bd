// Single matmuls: IREE's default, tuned and data-tiled code against OpenBLAS and MKL.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { comparisonOf, type ModuleComparison, type ModuleRun } from '../src/measure/compare-modules.ts';
import { geometricMean, median } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import { inRounds, moduleTimer } from '../src/running/comparison/rounds.ts';
import { messageOf } from '../src/system/tell.ts';
import {
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
import { moduleText, operandBytes, operationCount, parseShape, type Shape } from './shared/shape.ts';
import { compileBoth, compileStock, openTools, type Tools } from './shared/stock-and-tuned.ts';
import { driverOf, threadsOption } from './shared/threads.ts';
import { aboutRun, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';

const DEFAULT_SHAPES = [
  ...['128x128x128', '256x256x256', '512x512x512', '1024x1024x1024'],
  ...['384x768x768', '997x997x997', '1x4096x4096', '127x255x511'],
];

const USAGE = `usage: npm run bench:kernels -- [SHAPE...] [--threads N] [--rounds N] [--budget SECONDS] [--folder FOLDER] [--json FILE]

  SHAPE      MxNxK or MxNxKxTYPE (default: ${DEFAULT_SHAPES.join(' ')})
  --threads  1, or all threads of this machine (default 1)
  --rounds   rounds of timing (default 7)
  --budget   seconds of tuning per shape (default 60)
  --folder   keep the tuning database and the cache in FOLDER (default: a temporary folder)
  --json     also write all values to FILE`;

const EFFORT = { repetitions: 15, minSeconds: 0.01 };

const RIVALS = ['stock', 'dataTiling', 'openblas', 'mkl'] as const;
type Rival = (typeof RIVALS)[number];
const VARIANTS = [...RIVALS, 'tuned'] as const;
type Variant = (typeof VARIANTS)[number];

/** One shape, with timers for all variants that compile. */
interface Contestants {
  readonly shape: Shape;
  readonly timers: ReadonlyMap<Variant, () => Promise<number>>;
  /** The wrapper's decision. */
  readonly tuning: object | null;
}

/** Values of one shape. Variants that could not be measured are left out. */
export interface Measured {
  readonly shape: Shape;
  readonly tuning: object | null;
  readonly gflops: Partial<Readonly<Record<Variant, number>>>;
  /** The rival's time over tuned's. */
  readonly gains: Partial<Readonly<Record<Rival, ModuleComparison>>>;
}

async function main(): Promise<void> {
  const args = readArguments(['threads', 'rounds', 'budget', 'folder', 'json'], USAGE);
  const threads = threadsOption(args);
  const rounds = wholeNumber(args, 'rounds', 7);
  const budgetSeconds = secondsOption(args, 'budget', 60);
  const json = jsonFile(args);
  const names = args.positionals.length === 0 ? DEFAULT_SHAPES : args.positionals;
  const shapes = [...new Map(names.map(parseShape).map((shape) => [shape.name, shape])).values()];

  const place = await openWorkplace();
  const driver = driverOf(threads);
  const tools = openTools(place, { driver, budgetSeconds, folder: args.options['folder'] });
  // The libraries' routines for integers and half precision do other work than IREE's code.
  const usesF32 = shapes.some(({ elementType }) => elementType === 'f32');
  const blas = usesF32 ? await openBlas() : null;
  const about = aboutRun('kernels', driver, { iree: place.description, ...blas?.versions });

  // Compile everything first: a compile would disturb the timing.
  const contestants: Contestants[] = [];
  for (const shape of shapes) contestants.push(await prepare(shape, threads, tools, blas));
  const measured: Measured[] = [];
  for (const [i, item] of contestants.entries()) {
    say(`Timing ${item.shape.name} (${i + 1} of ${contestants.length}) ...`);
    measured.push(await measure(item, rounds));
  }
  console.log(
    `IREE ${place.description.version}, ${counted(threads, 'thread')}, ` +
      `medians of ${counted(rounds, 'round')}, GFLOP/s. A ratio above 1 means that tuned is faster.\n`,
  );
  console.log(report(measured));
  const options = { threads, rounds, budgetSeconds, flags: HOST_FLAGS };
  writeJson(json, { ...about, options, results: measured });
}

/** Compiles, tunes and writes the operands. */
async function prepare(shape: Shape, threads: number, tools: Tools, blas: Blas | null): Promise<Contestants> {
  const { name, m, n, k, elementType } = shape;
  const folder = join(tools.place.folder, name);
  mkdirSync(folder);
  const file = (own: string) => join(folder, own);
  const source = file('matmul.mlir');
  writeFileSync(source, moduleText(shape));
  writeFileSync(file('lhs.bin'), operandBytes(elementType, m * k));
  writeFileSync(file('rhs.bin'), operandBytes(elementType, k * n));
  const runs: ModuleRun = {
    ...{ tools, device: tools.device, function: { name: 'main' } },
    inputs: [`${m}x${k}x${elementType}=@${file('lhs.bin')}`, `${k}x${n}x${elementType}=@${file('rhs.bin')}`],
  };
  const timers = new Map<Variant, () => Promise<number>>();
  const add = (variant: Variant, module: string, error: string | null) => {
    if (error === null) timers.set(variant, () => moduleTimer(runs, module)(EFFORT));
    else say(`${name}: ${variant} does not compile: ${error}`);
  };
  say(`Compiling ${name}, tuning for up to ${tools.budgetSeconds} s ...`);
  const both = await compileBoth(source, folder, HOST_FLAGS, tools);
  add('stock', both.stock, both.state === 'stock does not compile' ? both.error : null);
  const tiled = file('data-tiling.vmfb');
  const flags = [...HOST_FLAGS, '--iree-opt-data-tiling'];
  add('dataTiling', tiled, (await compileStock(source, tiled, flags, tools)).error);
  add('tuned', both.tuned, both.error);
  const { route, applied, operations: [operation] = [] } = both.explanation ?? {};
  if (both.sameCode) say(`${name}: "tuned" is the default: ${operation?.reason ?? 'no reason is given'}`);
  else if (applied === false) say(`${name}: the configuration did not take effect.`);
  if (blas !== null && elementType === 'f32')
    for (const library of ['openblas', 'mkl'] as const)
      if (blas.versions[library] !== null)
        timers.set(library, () => blas.time(library, shape, threads, EFFORT.minSeconds));
  return { shape, timers, tuning: operation === undefined ? null : { ...operation, route, applied } };
}

/** Times every variant once per round, in separate processes and a rotating order. */
async function measure({ shape, timers, tuning }: Contestants, rounds: number): Promise<Measured> {
  const usable: Variant[] = [];
  for (const [variant, time] of timers)
    // This run brings the files into memory, and removes variants that cannot run.
    try {
      await time();
      usable.push(variant);
    } catch (error) {
      say(`${shape.name}: ${variant} cannot be timed: ${messageOf(error)}`);
    }
  const extent = { rounds, seconds: Infinity };
  const times = await inRounds(usable, extent, (variant) => timers.get(variant)!());
  const secondsOf = (variant: Variant) => times.map((round) => round.get(variant)!);
  const gflops = (variant: Variant) => operationCount(shape) / median(secondsOf(variant)) / 1e9;
  const gainOver = (rival: Variant) =>
    comparisonOf(times.map((round) => [round.get(rival)!, round.get('tuned')!]));
  const rivals = usable.includes('tuned') ? usable.filter((variant) => variant !== 'tuned') : [];
  return {
    ...{ shape, tuning },
    gflops: Object.fromEntries(usable.map((variant) => [variant, gflops(variant)])),
    gains: Object.fromEntries(rivals.map((rival) => [rival, gainOver(rival)])),
  };
}

const inGflops = (value: number | undefined) =>
  value === undefined ? '-' : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
const asRatio = (value: number | undefined) => (value === undefined ? '-' : `${value.toFixed(2)}x`);

function report(measured: readonly Measured[]): string {
  const rows = measured.map(({ shape, gflops, gains }) => [
    shape.name,
    ...VARIANTS.map((variant) => inGflops(gflops[variant])),
    ...RIVALS.map((rival) => asRatio(gains[rival]?.ratio)),
  ]);
  const meanOver = (rival: Rival) => {
    const ratios = measured.flatMap(({ gains }) => gains[rival]?.ratio ?? []);
    return asRatio(ratios.length === 0 ? undefined : geometricMean(ratios));
  };
  const header = [
    ...['MxNxK', 'stock', 'data tiling', 'OpenBLAS', 'MKL', 'tuned'],
    ...['tuned/stock', 'tuned/data tiling', 'tuned/OpenBLAS', 'tuned/MKL'],
  ];
  return table(header, [...rows, ['geometric mean', ...VARIANTS.map(() => ''), ...RIVALS.map(meanOver)]]);
}

await run('bench:kernels', main);
