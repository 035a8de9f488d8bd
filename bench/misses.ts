// Seconds from a miss to the output: builds of matmuls without any record, at the default budget.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { geometricMean, median } from '../src/measure/statistics.ts';
import type { Explanation } from '../src/report/explain.ts';
import { table } from '../src/report/table.ts';
import { formatRatio } from '../src/system/format.ts';
import { jsonFile, readArguments, run, say, writeJson, wholeNumber } from './shared/arguments.ts';
import { moduleText, parseShape } from './shared/shape.ts';
import { aboutRun, HOST_FLAGS, openWorkplace, wrapperEnvironment } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:misses -- [SHAPE...] [--wide SECONDS] [--json FILE]

  SHAPE   such as 512x512x512 (default: 20 shapes)
  --wide  after each build, search for so long without a prior, and print the part of the found speed that the build had
  --json  also write all values to FILE`;

const DRIVER = 'local-sync';

/** Square and skinny matmuls, vectors, primes, and sizes between powers of two. The prior has measurements of none of them. */
const SHAPES = [
  ...['192x192x384', '350x600x800', '1x2000x700', '100x2304x640', '560x560x560'],
  ...['19x1100x600', '1536x160x320', '72x352x704', '270x270x900', '1x400x3000'],
  ...['900x176x112', '509x511x517', '72x72x1536', '140x1200x140', '400x56x640'],
  ...['6x2048x1536', '3000x40x80', '640x320x480', '960x960x288', '28x28x28'],
];

export interface Miss {
  readonly shape: string;
  /** Wall time of the build. */
  readonly seconds: number;
  /** The default's time over the configuration's; 1 if the default is best. */
  readonly gain: number;
  /** The same after a search without a prior that goes on. Null if there was none. */
  readonly wideGain: number | null;
}

/** Part of the best known speed that a build had. */
const reached = ({ gain, wideGain }: Miss): number => gain / (wideGain ?? gain);

async function main(): Promise<void> {
  const args = readArguments(['json', 'wide'], USAGE);
  const wide = args.options['wide'] === undefined ? null : wholeNumber(args, 'wide', 40);
  const shapes = args.positionals.length > 0 ? args.positionals : SHAPES;
  const programs = shapes.map((shape) => moduleText(parseShape(shape)));
  const json = jsonFile(args);
  const place = await openWorkplace();
  const about = aboutRun('misses', DRIVER, { iree: place.description });
  const misses: Miss[] = [];
  for (const [i, shape] of shapes.entries()) {
    say(`${shape} (${i + 1} of ${shapes.length}) ...`);
    const [source, database, explain, output] = ['in.mlir', 'tuning.sqlite', 'explain.json', 'out.vmfb'].map(
      (name) => join(place.folder, name),
    ) as [string, string, string, string];
    writeFileSync(source, programs[i]!);
    // Earlier shapes must not help. The cache folder stays: it has no records.
    rmSync(database, { force: true });
    const settings = { DEVICE: DRIVER, DB: database, EXPLAIN: explain, BUDGET: undefined };
    const build = async () => {
      await execa(place.wrapper, [...HOST_FLAGS, source, '-o', output], {
        env: wrapperEnvironment(place, settings),
        extendEnv: false,
      });
      const { operations } = JSON.parse(readFileSync(explain, 'utf8')) as Explanation;
      return operations[0]?.speedup?.ratio ?? 1;
    };
    const begun = performance.now();
    const gain = await build();
    const seconds = (performance.now() - begun) / 1000;
    if (wide !== null)
      await execa(
        join(dirname(place.wrapper), 'iree-tuned'),
        ['tune', source, '--again', '--strategy', 'descent', '--budget', `${wide}`, '--', ...HOST_FLAGS],
        { env: wrapperEnvironment(place, settings), extendEnv: false },
      );
    const wideGain = wide === null ? null : Math.max(gain, await build());
    misses.push({ shape, seconds, gain, wideGain });
  }
  const all = misses.map(({ seconds }) => seconds);
  console.log(
    table(
      ['shape', 'seconds', 'gain', 'after a wide search', 'reached'],
      misses.map((miss) => [
        ...[miss.shape, miss.seconds.toFixed(1), formatRatio(miss.gain)],
        ...(miss.wideGain === null ? ['-', '-'] : [formatRatio(miss.wideGain), reached(miss).toFixed(2)]),
      ]),
    ),
  );
  console.log(
    `\nmedian ${median(all).toFixed(1)} s, longest ${Math.max(...all).toFixed(1)} s, ` +
      `gain ${formatRatio(geometricMean(misses.map(({ gain }) => gain)))} (geometric mean)`,
  );
  writeJson(json, { ...about, options: { flags: HOST_FLAGS }, results: misses });
}

await run('bench:misses', main);
