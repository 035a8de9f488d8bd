// The doctor's findings, and those about the machine of a runner: flags of the compiler for it, its clock, and the smallest gain that it can show.
import { join } from 'node:path';
import { flagsFor } from '../backend/llvm-cpu/flags-for.ts';
import { describeDevice as describeCpu } from '../backend/llvm-cpu/cpu.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { askCompiler } from '../compiler/ask.ts';
import { comparisonOf, inPairs, timeModule } from '../measure/compare-modules.ts';
import { compilerOf } from '../populate/site.ts';
import { askFacts } from '../runner/facts.ts';
import { factsFolder, isDescribed, isKnown, type Runner } from '../runner/runner.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { textIn } from '../system/files.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { messageOf } from '../system/tell.ts';

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
  /** How to fix the problem; null without a problem. */
  readonly remedy: string | null;
}

export const finding = (what: string, found: string, remedy: string | null = null): Finding => ({
  ...{ what, ok: remedy === null, found, remedy },
});

/** Rows, columns and sum of the product that is timed against itself. */
const SIZE = 256;

const FACTOR = `tensor<${SIZE}x${SIZE}xf32>`;
const PRODUCT = `func.func @main(%a: ${FACTOR}, %b: ${FACTOR}, %c: ${FACTOR}) -> ${FACTOR} {
  %r = linalg.matmul ins(%a, %b : ${FACTOR}, ${FACTOR}) outs(%c : ${FACTOR}) -> ${FACTOR}
  return %r : ${FACTOR}
}
`;

/** Seconds of timing a product against itself. */
const TRIAL_SECONDS = 10;
const EFFORT = { repetitions: 5, minSeconds: 0.05, timeoutSeconds: 60 };

/** @returns nothing for an emulator, which does not describe itself */
export async function checkRunner(runner: Runner, surroundings: Surroundings): Promise<Finding[]> {
  if (!isKnown(runner)) await askFacts(runner);
  if (!isDescribed(runner)) return [];
  const root = factsFolder(runner);
  const flags = flagsFor(root);
  const governor = textIn(join(root, 'sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')).trim();
  return [
    flags === null
      ? finding('flags', 'not known for this processor')
      : finding('flags', `for its processor: ${flags.join(' ')}`),
    ...(governor === ''
      ? []
      : [
          finding(
            'clock',
            governor === 'performance'
              ? 'constant'
              : `governor ${governor}: times vary less with performance, which its administrator sets`,
          ),
        ]),
    ...(flags === null ? [] : [await checkNoise(runner, flags, surroundings)]),
  ];
}

/** Times one module against itself. */
async function checkNoise(
  runner: Runner,
  flags: readonly string[],
  surroundings: Surroundings,
): Promise<Finding> {
  const { env, cacheDirectory } = surroundings;
  const compiler = compilerOf(surroundings);
  const tools = findMeasuringTools(compiler, env, surroundings)!;
  const device = describeCpu('local-sync', factsFolder(runner));
  return withScratchFolder(cacheDirectory, 'doctor', async (folder) => {
    const module = join(folder, 'product.vmfb');
    const target = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'];
    const built = await askCompiler(compiler.executable, ['-', ...target, ...flags, '-o', module], {
      env,
      stdin: Buffer.from(PRODUCT),
    });
    if (built.code !== 0)
      return finding('noise', 'a product does not compile with these flags', built.stderr.toString());
    const inputs = Array.from({ length: 3 }, () => `${SIZE}x${SIZE}xf32=1`);
    const run = { tools, device, inputs, function: { name: 'main' } };
    try {
      const pairs = await inPairs(module, module, { pairs: 20, seconds: TRIAL_SECONDS }, async (one) => {
        const { seconds } = await timeModule(run, one, EFFORT);
        return seconds;
      });
      const { low, high, seconds } = comparisonOf(pairs);
      const least = Math.max(high - 1, 1 - low);
      const rate = (2 * SIZE ** 3) / seconds[0] / 1e9;
      return finding(
        'noise',
        `gains above ${(100 * least).toFixed(1)}% can be seen in ${TRIAL_SECONDS} s (a product at ${rate.toPrecision(3)} GFLOP/s)`,
      );
    } catch (error) {
      return finding('noise', 'a product does not run there', messageOf(error));
    }
  });
}
