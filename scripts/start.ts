// `npm start`: compiles every example with the real compiler and with the wrapper, runs both programs, and shows what
// tuning gained. Leaves the user's own database and statistics alone.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { findCompiler, findMeasuringTools } from '../src/compiler/find.ts';
import { writeInputs } from '../src/program/inputs.ts';
import { programSignature } from '../src/input/signature.ts';
import { isEitherFaster } from '../src/program/answered.ts';
import { verifyProgram } from '../bench/shared/verify-program.ts';
import { HOST_FLAGS } from '../bench/shared/workplace.ts';
import type { Explanation } from '../src/report/explain.ts';
import { formatSeconds } from '../src/system/format.ts';
import { table } from '../src/report/table.ts';
import { describeDevice } from '../src/backend/llvm-cpu/cpu.ts';
import { deviceKey } from '../src/backend/device.ts';
import { acquireMeasuringLock } from '../src/site/measuring-lock.ts';

const root = join(import.meta.dirname, '..');
const work = join(root, '.cache', 'start');

/**
 * Where records and counts go: together into the folder of this, or, for who names a database, together to where they go
 * in builds with it. Statistics would otherwise tell of compiles that the records know nothing of.
 */
const place = process.env['IREE_TUNED_DB']
  ? {}
  : { IREE_TUNED_DB: join(work, 'tuning.db'), IREE_TUNED_CACHE: join(work, 'cache') };

/** Multiply-adds of each example, and the seconds to tune it in. */
const EXAMPLES: Readonly<Record<string, { macs: number; budget: number }>> = {
  mlp: { macs: 256 * 1000 * 1024 + 256 * 1024 * 500, budget: 18 },
  matmul_512x512x512: { macs: 512 ** 3, budget: 30 },
  matmul_384x768x768: { macs: 384 * 768 * 768, budget: 25 },
  matmul_997x997x997: { macs: 997 ** 3, budget: 40 },
  matmul_1x4096x4096: { macs: 4096 * 4096, budget: 20 },
  mobile_layers: { macs: 112 * 112 * (16 * 27 + 16 * 9 + 32 * 16), budget: 16 },
};

/** Rounds of timing, and about the seconds that they may take. */
const TIMING = { pairs: 5, seconds: 60 };

const isDecided = ({ operations }: Explanation) =>
  operations.every(({ outcome }) => outcome === 'hit' || outcome === 'tuned');

function describeOutcomes({ operations, applied, forms }: Explanation): string {
  const rewritten = forms?.used === true ? ['rewritten'] : [];
  const outcomes = [...new Set([...rewritten, ...operations.map(({ outcome }) => outcome)])].join(', ');
  return applied === true
    ? `${outcomes}, applied`
    : applied === false
      ? `${outcomes}, NOT APPLIED`
      : outcomes;
}

const compiler = findCompiler(process.env, { compiler: process.env['IREE_TUNED_COMPILER'], root });
const tools = findMeasuringTools(compiler, process.env, { root });
if (tools === null) throw new Error("IREE's runtime is not found: pip install iree-base-runtime");
const device = describeDevice(process.env['IREE_TUNED_DEVICE'] ?? 'local-sync');
mkdirSync(work, { recursive: true });
console.log(`iree-compile: ${compiler.executable}`);
console.log(`device:       ${deviceKey(device)}\n`);

const rows: string[][] = [];
for (const [name, { macs, budget }] of Object.entries(EXAMPLES)) {
  const source = join('examples', `${name}.mlir`);
  const [stock, tuned, explain] = ['stock.vmfb', 'tuned.vmfb', 'json'].map((end) =>
    join(work, `${name}.${end}`),
  );
  await execa(compiler.executable, [...HOST_FLAGS, source, '-o', stock!], { cwd: root });
  process.stdout.write(`bin/iree-compile-tuned ${source} -o ${name}.vmfb ...\n`);
  const started = performance.now();
  await execa('bin/iree-compile-tuned', [...HOST_FLAGS, source, '-o', tuned!], {
    cwd: root,
    stdio: 'inherit',
    env: {
      IREE_TUNED_COMPILER: compiler.executable,
      IREE_TUNED_DEVICE: device.driver,
      ...place,
      IREE_TUNED_BUDGET: process.env['IREE_TUNED_BUDGET'] ?? String(budget),
      IREE_TUNED_EXPLAIN: explain!,
    },
  });
  const seconds = (performance.now() - started) / 1000;
  const explanation = JSON.parse(readFileSync(explain!, 'utf8')) as Explanation;
  const [main] = programSignature(readFileSync(join(root, source)), (elementType) => elementType);
  // Builds that tune wait meanwhile. Where one of them does not end, the programs are timed beside it.
  const lock = await acquireMeasuringLock({ cacheDirectory: work, env: process.env }, TIMING.seconds);
  const contest = {
    stock: stock!,
    tuned: tuned!,
    function: main!,
    inputs: writeInputs(main!, work, 0),
    device,
    tools,
    folder: work,
  };
  const verdict = await verifyProgram(contest, TIMING, isEitherFaster);
  lock?.release();
  if (verdict.timing === null) throw new Error(`${name}: ${verdict.reason ?? 'was not timed'}`);
  const {
    seconds: [before, after],
    ratio,
  } = verdict.timing;
  const isSame = readFileSync(stock!).equals(readFileSync(tuned!));
  rows.push([
    name,
    isSame && isDecided(explanation) ? 'the default is best' : describeOutcomes(explanation),
    `${seconds.toFixed(1)} s`,
    formatSeconds(before),
    formatSeconds(after),
    isSame ? 'same code' : `${ratio.toFixed(2)}x`,
    ((2 * macs) / after / 1e9).toFixed(1),
    'equal',
  ]);
}
console.log(
  '\n' + table(['example', 'outcome', 'compile', 'stock', 'tuned', 'gain', 'GFLOP/s', 'outputs'], rows),
);
console.log(
  '\nstock and tuned: one call of each program, by iree-benchmark-module, on one thread unless IREE_TUNED_DEVICE says otherwise.' +
    '\nA second `npm start` finds every record: nothing is tuned, the compiles take what iree-compile takes.',
);
