// Builds of the real compiler with other flags, and the choice of the fastest.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModuleRun } from '../../src/measure/compare-modules.ts';
import { undisturbed } from '../../src/measure/statistics.ts';
import { messageOf } from '../../src/system/tell.ts';
import { effortFor, inRounds } from '../onnx/effort.ts';
import { moduleTimer } from '../onnx/times.ts';
import { compileStock, type Build, type Tools } from '../shared/stock-and-tuned.ts';
import { HOST_FLAGS } from '../shared/workplace.ts';

const [O3, DATA_TILING] = ['--iree-opt-level=O3', '--iree-opt-data-tiling'];

/** Flags by the names of the table. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  O3: [O3],
  'data tiling': [DATA_TILING],
  'O3, data tiling': [O3, DATA_TILING],
  im2col: ['--iree-global-opt-use-im2col-for-convs'],
};

/** The name of the build without more flags. */
export const DEFAULT = 'default';

/** A build of stock. Its `error` is that of the compiler, or that of a run. */
export interface Variant extends Build {
  readonly name: string;
  readonly module: string;
  /** Seconds of one call in the choice; null if it was not timed. */
  readonly callSeconds: number | null;
}

/** Compiles a program with each of the flags. A failure is a result. */
export async function compileVariants(program: string, folder: string, tools: Tools): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const [name, flags] of Object.entries(FLAGS)) {
    const module = join(folder, `${name}.vmfb`);
    const build = await compileStock(program, module, [...HOST_FLAGS, ...flags], tools);
    variants.push({ ...build, name, module, callSeconds: null });
  }
  return variants;
}

/** From this time of a call on, one round is enough for the choice. */
const LONG_SECONDS = 1;
/** About the time of the choice. */
const CHOICE_SECONDS = 60;

/**
 * Times the default and its variants, in few rounds. Variants with the default's code are not timed.
 * @returns all variants with their times, the default first
 */
export async function timeVariants(
  run: ModuleRun,
  stock: Variant,
  variants: readonly Variant[],
): Promise<Variant[]> {
  const code = readFileSync(stock.module);
  const isOther = ({ error, module }: Variant) => error === null && !readFileSync(module).equals(code);
  const contestants = [stock, ...variants.filter(isOther)];
  const first = await moduleTimer(run, stock.module)(effortFor(Infinity));
  const errors = new Map<Variant, string>();
  const extent = { rounds: first > LONG_SECONDS ? 1 : 3, seconds: CHOICE_SECONDS };
  const rounds = await inRounds(contestants, extent, (one) =>
    moduleTimer(
      run,
      one.module,
    )(effortFor(first)).catch((error: unknown) => {
      errors.set(one, messageOf(error));
      return Infinity;
    }),
  );
  return [stock, ...variants].map((one) => ({
    ...one,
    error: errors.get(one) ?? one.error,
    callSeconds:
      contestants.includes(one) && !errors.has(one)
        ? undisturbed(rounds.map((times) => times.get(one)!))
        : null,
  }));
}

/** The fastest timed variant. */
export const fastest = (variants: readonly Variant[]): Variant | undefined =>
  variants
    .filter(({ callSeconds }) => callSeconds !== null)
    .toSorted((a, b) => a.callSeconds! - b.callSeconds!)[0];
