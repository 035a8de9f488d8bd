// Compares strategies on measured search spaces. The prior of each space is trained without its shape.
import { basename } from 'node:path';
import { doubtOf, forestsWithout } from '../scripts/prior/train.ts';
import { configurationKey } from '../src/backend/index.ts';
import type { Configuration } from '../src/backend/configuration.ts';
import { llvmCpu } from '../src/backend/llvm-cpu/index.ts';
import { sumOf } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import { predict, type Forest } from '../src/search/forest.ts';
import { coordinateDescent } from '../src/search/descent.ts';
import { guidedSearch } from '../src/search/guided.ts';
import { geneticSearch } from '../src/search/ga.ts';
import { randomSearch } from '../src/search/random.ts';
import { annealingSearch } from '../src/search/sa.ts';
import { boostedSearch } from '../src/search/xgb.ts';
import type { Doubt } from '../src/search/likeness.ts';
import { pointOf, type Guide, type Point, type SearchSpace } from '../src/search/space.ts';
import { seededRandom, type StrategyFactory } from '../src/search/strategy.ts';
import { jsonFile, readArguments, run, wholeNumber, writeJson } from './shared/arguments.ts';
import { aboutRun } from './shared/workplace.ts';
import { readSpaces, spaceFiles, type MeasuredSpace } from './shared/measured-spaces.ts';

const USAGE = `usage: npm run bench:search -- [--seeds N] [--json FILE] [FILE...]

  FILE     measured spaces (default: all in bench/data/spaces)
  --seeds  searches of each strategy in each space (default 5)
  --json   also write all values to FILE`;

/** All strategies but the grid, which visits every point. */
const STRATEGIES: Readonly<Record<string, StrategyFactory>> = {
  guided: guidedSearch,
  descent: coordinateDescent,
  random: randomSearch,
  ga: geneticSearch,
  sa: annealingSearch,
  xgb: boostedSearch,
};

const BATCH = 12;
const BATCHES = 10;

/** Numbers of trials after which the table shows the share of the best. */
const AFTER = [12, 24, 48, 120];

interface Searched {
  /** Share of the best's speed after each batch. */
  readonly shares: readonly number[];
  readonly trials: number;
}

/** Of one file of measured matmuls. */
export interface Result {
  /** Such as `avx512-f32`. */
  readonly name: string;
  readonly doubt: Doubt;
  /** Of each matmul: the share of the best speed by the prior alone. */
  readonly untimed: readonly number[];
  readonly searched: readonly (readonly [strategy: string, searches: readonly Searched[]])[];
}

async function main(): Promise<void> {
  const args = readArguments(['seeds', 'json'], USAGE);
  const json = jsonFile(args);
  const seeds = wholeNumber(args, 'seeds', 5);
  const files = args.positionals.length > 0 ? args.positionals : spaceFiles();
  const about = aboutRun('search', 'local-sync', {});
  const results: Result[] = [];
  const measured = files.map((file) => ({ name: basename(file, '.jsonl.gz'), spaces: readSpaces(file) }));
  const all = measured.flatMap(({ spaces }) => spaces);
  const allForests = forestsWithout(all);
  const doubt = doubtOf(all, allForests);
  for (const { name: matmuls, spaces } of measured) {
    const untimed: number[] = [];
    const searched = new Map<string, Searched[]>();
    for (const space of spaces) {
      const forest = allForests[all.indexOf(space)]!;
      untimed.push(shareUntimed(space, forest));
      for (const [name, strategy] of Object.entries(STRATEGIES))
        for (let seed = 1; seed <= seeds; seed++) {
          const own = searched.get(name) ?? [];
          searched.set(name, own);
          own.push(search(strategy, space, { forest, doubt }, seed));
        }
    }
    const rows = [...searched].map(([name, own]) => {
      const at = AFTER.map((trials) =>
        own.map(({ shares }) => shares[Math.min(trials / BATCH, shares.length) - 1]!),
      );
      return [
        name,
        ...at.flatMap((shares) => [percent(mean(shares)), percent(decile(shares))]),
        mean(own.map(({ trials }) => trials)).toFixed(0),
      ];
    });
    const heads = ['strategy', ...AFTER.flatMap((trials) => [`after ${trials}`, 'worst tenth']), 'trials'];
    console.log(
      `${matmuls}: ${spaces.length} shapes; by the prior alone ${percent(mean(untimed))} of the best, worst tenth ${percent(decile(untimed))}`,
    );
    console.log(`${table(heads, rows)}\n`);
    results.push({ name: matmuls, doubt, untimed, searched: [...searched] });
  }
  writeJson(json, { ...about, results });
  return Promise.resolve();
}

const mean = (values: readonly number[]): number => sumOf(values) / values.length;
const decile = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)]!;
const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

const bestOf = ({ trials }: MeasuredSpace): number => Math.max(...trials.map(([, ratio]) => ratio ?? 0));

/** Speed of the configuration that the prior predicts as best, as a share of the best speed. */
function shareUntimed(space: MeasuredSpace, forest: Forest): number {
  const predicted = space.trials.flatMap(([configuration, ratio]) => {
    const features = llvmCpu.tuning(space.workload).features!(configuration, space.options);
    return features === null ? [] : [{ value: predict(forest, features), ratio: ratio ?? 0 }];
  });
  const [best] = predicted.sort((a, b) => a.value - b.value);
  return best!.ratio / bestOf(space);
}

/** Searches only the measured configurations of a space. */
function search(
  strategy: StrategyFactory,
  measured: MeasuredSpace,
  { forest, doubt }: { readonly forest: Forest; readonly doubt: Doubt },
  seed: number,
): Searched {
  const { workload, options, trials } = measured;
  const whole = llvmCpu.tuning(workload).space(options);
  const ratios = new Map(trials.map(([configuration, ratio]) => [configurationKey(configuration), ratio]));
  const ratioOf = (configuration: Configuration | null) =>
    configuration === null ? undefined : ratios.get(configurationKey(configuration));
  const configurationAt = (point: Point) => {
    const configuration = whole.configurationAt(point);
    return ratioOf(configuration) === undefined ? null : configuration;
  };
  const points = trials.flatMap(([configuration]) => {
    const point = pointOf(whole, configuration);
    return point === null ? [] : [point];
  });
  const guide: Guide = {
    ...{ forest, doubt, isMeasured: true },
    featuresAt(point) {
      const configuration = configurationAt(point);
      return configuration && llvmCpu.tuning(workload).features!(configuration, options);
    },
  };
  const inSpace: SearchSpace<Configuration> = {
    ...{ ...whole, configurationAt, guide },
    // Strategies with a model predict for all measured points. The others begin at the starts.
    starts:
      strategy === guidedSearch || strategy === boostedSearch
        ? points
        : whole.starts.filter((one) => configurationAt(one) !== null),
  };
  // Few random points of the whole space were measured.
  const space = strategy === randomSearch ? listed(trials.map(([configuration]) => configuration)) : inSpace;
  const searcher = strategy(space, seededRandom(seed));
  const best = bestOf(measured);
  const shares: number[] = [];
  let [found, count] = [0, 0];
  for (let batch = 0; batch < BATCHES; batch++) {
    const some = searcher.propose(BATCH);
    if (some.length === 0) break;
    const timed = some.map((point) => ratioOf(space.configurationAt(point)) ?? null);
    searcher.observe(some.map((point, i) => ({ point, cost: timed[i] === null ? null : 1 / timed[i]! })));
    found = Math.max(found, ...timed.map((ratio) => ratio ?? 0));
    count += some.length;
    shares.push(found / best);
  }
  return { shares, trials: count };
}

/** A space with one knob that lists these configurations. */
const listed = (configurations: readonly Configuration[]): SearchSpace<Configuration> => ({
  knobs: [{ name: 'configuration', values: [...configurations.keys()] }],
  ...{ starts: [], alternatives: [], valuesOf: () => null },
  configurationAt: ([at]) => configurations[at!] ?? null,
});

await run('bench:search', main);
