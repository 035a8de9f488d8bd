// `npm start`: compiles every example with the real compiler and with the wrapper, runs both programs, and shows what
// tuning gained. Leaves the user's own database alone.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { findCompiler, findRuntimeTool } from '../src/compiler/index.ts';
import { compareModules, type ModuleRun } from '../src/measure/compare-modules.ts';
import { compareOutputs } from '../src/measure/verify.ts';
import type { Explanation } from '../src/report/explain.ts';
import { formatSeconds } from '../src/report/format.ts';
import { table } from '../src/report/table.ts';
import { seededRandom } from '../src/search/strategy.ts';
import { describeDevice, deviceFlags, deviceKey } from '../src/target/device.ts';

const root = join(import.meta.dirname, '..');
const work = join(root, '.cache', 'start');
const FLAGS = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/** Shapes of each example's inputs (all f32), its multiply-adds, and the seconds to tune it in. */
const EXAMPLES: Readonly<Record<string, { inputs: readonly string[]; macs: number; budget: number }>> = {
  mlp: {
    inputs: ['256x1000', '1000x1024', '1024', '1024x500', '500'],
    macs: 256 * 1000 * 1024 + 256 * 1024 * 500,
    budget: 40,
  },
  matmul_512x512x512: { inputs: ['512x512', '512x512'], macs: 512 ** 3, budget: 30 },
  matmul_384x768x768: { inputs: ['384x768', '768x768'], macs: 384 * 768 * 768, budget: 25 },
  matmul_997x997x997: { inputs: ['997x997', '997x997'], macs: 997 ** 3, budget: 40 },
  matmul_1x4096x4096: { inputs: ['1x4096', '4096x4096'], macs: 4096 * 4096, budget: 20 },
};

/** Random small integers: their sums are exact in f32, whatever the order of summation. */
function writeInput(shape: string): string {
  const path = join(work, `input_${shape}.bin`);
  const length = shape.split('x').reduce((product, size) => product * Number(size), 1);
  if (!existsSync(path) || statSync(path).size !== length * 4) {
    const random = seededRandom(length);
    writeFileSync(
      path,
      Float32Array.from({ length }, () => Math.floor(random() * 17) - 8),
    );
  }
  return `${shape}xf32=@${path}`;
}

async function outputOf(tool: string, run: ModuleRun, module: string): Promise<Buffer> {
  const file = `${module}.out.bin`;
  await execa(tool, [
    `--module=${module}`,
    `--function=${run.functionName}`,
    ...run.inputs.map((input) => `--input=${input}`),
    ...deviceFlags(run.device),
    `--output=@${file}`,
  ]);
  const bytes = readFileSync(file);
  rmSync(file);
  return bytes;
}

function describeOutcomes({ operations, applied }: Explanation): string {
  const outcomes = [...new Set(operations.map(({ outcome }) => outcome))].join(', ');
  return applied === true
    ? `${outcomes}, applied`
    : applied === false
      ? `${outcomes}, NOT APPLIED`
      : outcomes;
}

const compiler = findCompiler(process.env, { compiler: process.env['IREE_TUNED_COMPILER'], root });
const tool = (name: string) => {
  const path = findRuntimeTool(name, compiler, process.env, { root });
  if (path === undefined) throw new Error(`${name} is not found: pip install iree-base-runtime`);
  return path;
};
const device = describeDevice(process.env['IREE_TUNED_DEVICE'] ?? 'local-sync');
const benchmarkModule = tool('iree-benchmark-module');
const runModule = tool('iree-run-module');
mkdirSync(work, { recursive: true });
console.log(`iree-compile: ${compiler.executable}`);
console.log(`device:       ${deviceKey(device)}\n`);

const rows: string[][] = [];
let isDifferent = false;
for (const [name, { inputs, macs, budget }] of Object.entries(EXAMPLES)) {
  const source = join('examples', `${name}.mlir`);
  const [stock, tuned, explain] = ['stock.vmfb', 'tuned.vmfb', 'json'].map((end) =>
    join(work, `${name}.${end}`),
  );
  await execa(compiler.executable, [...FLAGS, source, '-o', stock!], { cwd: root });
  process.stdout.write(`bin/iree-compile-tuned ${source} -o ${name}.vmfb ...\n`);
  const started = performance.now();
  await execa('bin/iree-compile-tuned', [...FLAGS, source, '-o', tuned!], {
    cwd: root,
    stdio: 'inherit',
    env: {
      IREE_TUNED_COMPILER: compiler.executable,
      IREE_TUNED_DEVICE: device.driver,
      IREE_TUNED_DB: process.env['IREE_TUNED_DB'] ?? join(work, 'tuning.db'),
      IREE_TUNED_BUDGET: process.env['IREE_TUNED_BUDGET'] ?? String(budget),
      IREE_TUNED_EXPLAIN: explain!,
    },
  });
  const seconds = (performance.now() - started) / 1000;
  const explanation = JSON.parse(readFileSync(explain!, 'utf8')) as Explanation;
  const run: ModuleRun = {
    benchmarkModule,
    device,
    functionName: 'main',
    inputs: inputs.map(writeInput),
  };
  const [expected, actual] = [await outputOf(runModule, run, stock!), await outputOf(runModule, run, tuned!)];
  const { equal } = compareOutputs(expected, actual, 'f32');
  isDifferent ||= !equal;
  const isSame = readFileSync(stock!).equals(readFileSync(tuned!));
  const {
    seconds: [before, after],
    ratio,
  } = await compareModules(run, stock!, tuned!, 3, 0.05);
  rows.push([
    name,
    isSame ? 'the default is best' : describeOutcomes(explanation),
    `${seconds.toFixed(1)} s`,
    formatSeconds(before),
    formatSeconds(after),
    isSame ? 'same code' : `${ratio.toFixed(2)}x`,
    ((2 * macs) / after / 1e9).toFixed(1),
    equal ? 'equal' : 'DIFFERENT',
  ]);
}
console.log(
  '\n' + table(['example', 'outcome', 'compile', 'stock', 'tuned', 'gain', 'GFLOP/s', 'outputs'], rows),
);
console.log(
  '\nstock and tuned: one call of each program, by iree-benchmark-module, on one thread unless IREE_TUNED_DEVICE says otherwise.' +
    '\nA second `npm start` finds every record: nothing is tuned, the compiles take what iree-compile takes.',
);
if (isDifferent) process.exitCode = 1;
