// Seconds from a miss to the output: builds of matmuls without any record, at the default budget.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { geometricMean, median } from '../src/measure/statistics.ts';
import type { Explanation } from '../src/report/explain.ts';
import { table } from '../src/report/table.ts';
import { formatRatio } from '../src/system/format.ts';
import { jsonFile, readArguments, run, say, writeJson } from './shared/arguments.ts';
import { moduleText, parseShape } from './shared/shape.ts';
import { describeMachine, HOST_FLAGS, openWorkplace, wrapperEnvironment } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:misses -- [SHAPE...] [--json FILE]

  SHAPE   such as 512x512x512 (default: 20 shapes)
  --json  also write all values to FILE`;

const DRIVER = 'local-sync';

/** Square and skinny matmuls, vectors, primes, and sizes between powers of two. */
const SHAPES = [
  ...['128x128x512', '333x500x777', '1x1536x512', '96x3072x768', '600x600x600'],
  ...['17x1000x512', '2048x128x256', '77x320x768', '250x250x1000', '1x300x5000'],
  ...['784x192x96', '511x513x515', '64x64x2048', '1024x1024x256', '20x20x20'],
  ...['365x48x730', '8x2048x2048', '150x1500x150', '4096x32x64', '700x300x450'],
];

interface Miss {
  readonly shape: string;
  /** Wall time of the build. */
  readonly seconds: number;
  /** The default's time over the configuration's; 1 if the default is best. */
  readonly gain: number;
}

async function main(): Promise<void> {
  const args = readArguments(['json'], USAGE);
  const shapes = args.positionals.length > 0 ? args.positionals : SHAPES;
  const programs = shapes.map((shape) => moduleText(parseShape(shape)));
  const json = jsonFile(args);
  const place = await openWorkplace();
  const machine = describeMachine(DRIVER);
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
    const begun = performance.now();
    await execa(place.wrapper, [...HOST_FLAGS, source, '-o', output], {
      env: wrapperEnvironment(place, settings),
      extendEnv: false,
    });
    const seconds = (performance.now() - begun) / 1000;
    const { operations } = JSON.parse(readFileSync(explain, 'utf8')) as Explanation;
    misses.push({ shape, seconds, gain: operations[0]?.speedup?.ratio ?? 1 });
  }
  const all = misses.map(({ seconds }) => seconds);
  console.log(
    table(
      ['shape', 'seconds', 'gain'],
      misses.map(({ shape, seconds, gain }) => [shape, seconds.toFixed(1), formatRatio(gain)]),
    ),
  );
  console.log(
    `\nmedian ${median(all).toFixed(1)} s, longest ${Math.max(...all).toFixed(1)} s, ` +
      `gain ${formatRatio(geometricMean(misses.map(({ gain }) => gain)))} (geometric mean)`,
  );
  writeJson(json, {
    version: 1,
    date: new Date().toISOString(),
    machine,
    versions: { iree: place.description, node: process.version },
    options: { flags: HOST_FLAGS },
    results: misses,
  });
}

await run('bench:misses', main);
