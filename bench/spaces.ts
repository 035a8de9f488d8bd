// Measures many configurations of many matmuls: data for priors (`npm run make:prior`) and for comparing strategies (`npm run bench:search`).
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backendNamed, configurationKey } from '../src/backend/index.ts';
import { deviceKey } from '../src/backend/device.ts';
import type { Configuration } from '../src/backend/configuration.ts';
import { geometricMean, median } from '../src/measure/statistics.ts';
import { pointOf, type Point, type SearchSpace } from '../src/search/space.ts';
import { randomPoint, seededRandom, type Random } from '../src/search/strategy.ts';
import type { ReadyBatch } from '../src/tuning/bench.ts';
import { realBench } from '../src/tuning/real-bench.ts';
import { needsProgram } from '../src/workload/workload.ts';
import { BenchError, readArguments, run, say, UsageError, wholeNumber } from './shared/arguments.ts';
import { matmulSearch, surroundingsOf, type MatmulSearch } from './shared/matmul-search.ts';
import { readSpaces, writeSpaces, type MeasuredSpace } from './shared/measured-spaces.ts';
import { HOST_FLAGS, openWorkplace } from './shared/workplace.ts';

const USAGE = `usage: node --conditions=source bench/spaces.ts --to FILE [--trials N] [--cpu NAME] SHAPE...

  --to      a gzipped file of JSON lines, which is extended; its shapes are not measured again
  --trials  configurations of each shape (default 240)
  --cpu     value of --iree-llvmcpu-target-cpu (default host)`;

/** Configurations in one module. Two modules are compiled at once. */
const BATCH = 24;
const AT_ONCE = 2;

/** Number of the best configurations whose neighbours are tried. */
const BEST = 8;

/** Number of the best configurations that are timed again. */
const AGAIN = 32;

/** Rounds of timing them again. */
const LEAST_ROUNDS = 6;
const MOST_ROUNDS = 30;

/** Standard error of a median, relative, that ends timing again. Matmuls that are bound by memory need most processes. */
const EXACT = 0.006;

/** Seconds for compiling one batch, and for timing it. */
const COMPILE_SECONDS = 120;
const BATCH_SECONDS = 60;

async function main(): Promise<void> {
  const args = readArguments(['to', 'trials', 'cpu'], USAGE);
  const path = args.options['to'];
  if (path === undefined) throw new UsageError('--to is missing; give a file');
  const cpu = args.options['cpu'] ?? 'host';
  const trials = wholeNumber(args, 'trials', 240);
  const flags = [...HOST_FLAGS.slice(0, -1), `--iree-llvmcpu-target-cpu=${cpu}`];
  const place = await openWorkplace();
  const surroundings = surroundingsOf(place, 'local-sync');
  const spaces = readSpaces(path);
  mkdirSync(dirname(path), { recursive: true });
  for (const name of args.positionals) {
    if (spaces.some((space) => space.name === name)) continue;
    const begun = performance.now();
    const shape = await matmulSearch(name, place, surroundings, flags);
    const space = await measure(shape, trials);
    rmSync(shape.toolchain.workDirectory, { recursive: true, force: true });
    spaces.push(space);
    writeSpaces(path, spaces);
    const best = Math.max(...space.trials.map(([, ratio]) => ratio ?? 0));
    const seconds = Math.round((performance.now() - begun) / 1000);
    say(`${name}: ${space.trials.length} configurations in ${seconds} s, the best ${best.toFixed(2)}x`);
  }
}

/** Measures starts and random points, then changes of one to three knobs of the best configurations. */
async function measure(shape: MatmulSearch, count: number): Promise<MeasuredSpace> {
  const { work, site, toolchain } = shape;
  const { workload, options } = work;
  const backend = backendNamed(site.target.key);
  if (backend === undefined || needsProgram(workload)) throw new BenchError(`${shape.name} is not tunable`);
  const space = backend.tuning(workload).space(options);
  const random = seededRandom(7);
  const bench = realBench(toolchain, workload);
  /** Least seconds by key, because other processes only add time; Infinity for a failure. */
  const results = new Map<string, readonly [Configuration, number]>();
  let defaultSeconds = Infinity;
  const prepare = (configurations: readonly Configuration[]) =>
    bench.prepareBatch(configurations, COMPILE_SECONDS, 1);
  const noteLeast: Note = (configuration, seconds, ofDefault) => {
    const key = configurationKey(configuration);
    results.set(key, [configuration, Math.min(seconds, results.get(key)?.[1] ?? Infinity)]);
    defaultSeconds = Math.min(defaultSeconds, ofDefault ?? Infinity);
  };
  const tryAll = async (points: readonly Point[]) => {
    const configurations = points.flatMap((point) => space.configurationAt(point) ?? []);
    const isNew = (one: Configuration) => !results.has(configurationKey(one));
    const each = new Map(configurations.filter(isNew).map((one) => [configurationKey(one), one]));
    const all = [...each.values()];
    for (let at = 0; at < all.length; at += AT_ONCE * BATCH) {
      const parts = Array.from({ length: AT_ONCE }, (_, i) =>
        all.slice(at + i * BATCH, at + (i + 1) * BATCH),
      );
      const batches = await Promise.all(parts.filter((part) => part.length > 0).map(prepare));
      for (const batch of batches) await timeOnce(batch, noteLeast);
    }
  };
  await tryAll([...space.starts, ...randomPoints(space, random, Math.ceil(count / 6))]);
  while (results.size < count) {
    const before = results.size;
    const best = [...results.values()]
      .sort(([, a], [, b]) => a - b)
      .slice(0, BEST)
      .map(([configuration]) => pointOf(space, configuration))
      .filter((point) => point !== null);
    const room = Math.min(2 * AT_ONCE * BATCH, count - results.size);
    const moves = Array.from({ length: 20 * room }, () =>
      moved(space, best[Math.floor(random() * best.length)]!, random),
    );
    const legal = moves.filter((point) => {
      const configuration = space.configurationAt(point);
      return configuration !== null && !results.has(configurationKey(configuration));
    });
    await tryAll(legal.slice(0, room));
    if (results.size === before) break;
  }
  // The best of many are partly the luckiest, so they are timed again, in several processes.
  const best = [...results.values()].sort(([, a], [, b]) => a - b).slice(0, AGAIN);
  const ratios = await timeUntilExact(await prepare(best.map(([configuration]) => configuration)));
  const trials = [...results].map(([key, [configuration, seconds]]) => {
    const ratio = ratios.has(key) ? median(ratios.get(key)!) : defaultSeconds / seconds;
    return [configuration, seconds === Infinity ? null : rounded(ratio)] as const;
  });
  return {
    ...{ name: shape.name, workload, options, device: deviceKey(site.device) },
    ...{ defaultSeconds, trials },
  };
}

/** Receives the seconds of a configuration in one process; Infinity for a failure. @param ofDefault null if the process did not time it */
type Note = (configuration: Configuration, seconds: number, ofDefault: number | null) => void;

async function timeOnce(batch: ReadyBatch, note: Note): Promise<void> {
  const { contestants, processes, failed } = await batch.time(BATCH_SECONDS);
  for (const one of failed) note(one.configuration, Infinity, null);
  for (const process of processes) {
    const ofDefault = process.defaultSeconds && geometricMean(process.defaultSeconds);
    for (const { name, configuration } of contestants)
      if (process.seconds.has(name))
        note(configuration, geometricMean(process.seconds.get(name)!), ofDefault);
  }
}

/** Times a batch in several processes. Returns ratios to the default's time, one for each process, by configuration. */
async function timeUntilExact(batch: ReadyBatch): Promise<Map<string, number[]>> {
  const ratios = new Map<string, number[]>();
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    await timeOnce(batch, (configuration, seconds, ofDefault) => {
      if (ofDefault === null || seconds === Infinity) return;
      const key = configurationKey(configuration);
      ratios.set(key, [...(ratios.get(key) ?? []), ofDefault / seconds]);
    });
    if (round >= LEAST_ROUNDS && median([...ratios.values()].map(errorOfMedian)) < EXACT) break;
  }
  return ratios;
}

/** Relative standard error of a median, from the median deviation, as for normal noise. */
function errorOfMedian(values: readonly number[]): number {
  const middle = median(values);
  const deviation = 1.4826 * median(values.map((value) => Math.abs(value / middle - 1)));
  return (1.25 * deviation) / Math.sqrt(values.length);
}

function randomPoints(space: SearchSpace<Configuration>, random: Random, count: number): Point[] {
  const points: Point[] = [];
  for (let i = 0; points.length < count && i < 100 * count; i++) {
    const point = randomPoint(space, random);
    if (space.configurationAt(point) !== null) points.push(point);
  }
  return points;
}

const rounded = (value: number): number => Number(value.toPrecision(4));

/** Changes one to three knobs, mostly to a near value. */
function moved({ knobs }: SearchSpace<Configuration>, from: Point, random: Random): Point {
  let point = from;
  const changes = 1 + Math.floor(random() * 3);
  for (let i = 0; i < changes; i++) {
    const knob = Math.floor(random() * knobs.length);
    const { length } = knobs[knob]!.values;
    const near = point[knob]! + Math.round((random() - 0.5) * 5);
    const value = random() < 0.7 ? Math.min(length - 1, Math.max(0, near)) : Math.floor(random() * length);
    point = point.with(knob, value);
  }
  return point;
}

await run('bench:spaces', main);
