// Builds with a fault, and the checks of their results.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { isDefault, type Configuration } from '../../../src/backend/configuration.ts';
import type { Explanation } from '../../../src/report/explain.ts';
import type { Statistics } from '../../../src/report/counts.ts';
import { DECISION, EVIDENCE } from '../../store/samples.ts';
import { rememberingCompiler } from '../../support/remembering-compiler.ts';
import { HOST, oddMatmul, Workplace, type RunOptions, argv } from '../support.ts';

/** A workplace with an input whose matmul has no record. */
export function workplace(env: Record<string, string> = {}): Workplace {
  const place = new Workplace(env);
  place.write('in.mlir', oddMatmul);
  return place;
}

/** Made once per worker: a record depends neither on the place nor on the path of the compiler. */
let recorded: Promise<Buffer> | undefined;

/**
 * A workplace whose database has a record for the input's matmul, without a search.
 * @param make another kind of workplace, such as `Workplace.simulated`
 */
export async function recordedWorkplace(
  env: Record<string, string> = {},
  make: (env: Record<string, string>) => Workplace = (own) => new Workplace(own),
): Promise<Workplace> {
  recorded ??= (async () => {
    const place = workplace();
    await record(place);
    return readFileSync(place.database);
  })();
  const place = make(env);
  place.write('in.mlir', oddMatmul);
  mkdirSync(dirname(place.database));
  writeFileSync(place.database, await recorded);
  return place;
}

/** Builds once without tuning, and gives every missed workload a record; see `recordMisses`. */
export async function record(
  place: Workplace,
  choose?: (workload: string) => Configuration | null,
  build: readonly string[] = argv,
): Promise<void> {
  const { code, stderr } = await place.compile(build, { env: { IREE_TUNED_ON_MISS: 'record' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  recordMisses(place, choose);
}

/**
 * Gives every missed workload a record.
 * @param choose configuration of a workload; null for no record
 * @returns the missed workloads
 */
export function recordMisses(
  place: Workplace,
  choose: (workload: string) => Configuration | null = () => DECISION.configuration,
): string[] {
  return place.inStore((store) => {
    const misses = store.misses();
    expect(misses).not.toEqual([]);
    for (const miss of misses) {
      const configuration = choose(miss.workload);
      if (configuration === null) continue;
      const evidence = isDefault(configuration) ? { ...EVIDENCE, ratio: 1, low: 1, high: 1 } : EVIDENCE;
      store.putRecord(store.subject(miss)!, { ...DECISION, configuration, evidence });
    }
    return misses.map(({ workload }) => workload);
  });
}

/** The build must give the bytes of stock. */
export async function expectStockBuild(
  place: Workplace,
  env: Record<string, string | undefined> = {},
  options: Pick<RunOptions, 'uid' | 'limits'> = {},
): Promise<Explanation> {
  const result = await place.explain(argv, { ...options, env });
  await expectStock(place, result);
  return result.explanation;
}

export async function expectStock(
  place: Workplace,
  result: { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string },
): Promise<void> {
  const { code, stdout, stderr } = result;
  expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(place.read('out.vmfb').equals(await stockOf(place))).toBe(true);
}

const stocks = new Map<string, Promise<Buffer>>();

/** The real compiler's output for a workplace's input. It does not depend on the place. */
function stockOf(place: Workplace): Promise<Buffer> {
  const input = place.read('in.mlir').toString();
  const known = stocks.get(input);
  if (known !== undefined) return known;
  const compiled = (async () => {
    expect(await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb'])).toMatchObject({ code: 0 });
    return place.read('stock.vmfb');
  })();
  stocks.set(input, compiled);
  return compiled;
}

/**
 * A compiler that behaves as the real one, unless its command line matches a pattern of the shell.
 * @returns the setting for it
 */
export function misbehavingCompiler(place: Workplace, pattern: string, deed: string) {
  const script = `case "$*" in ${pattern}) ${deed};; esac\nexec '${rememberingCompiler}' "$@"`;
  // If only tuned compiles misbehave, the compiler answers our questions as the real one.
  return place.scriptedCompiler(script, pattern.includes('tuning-spec'));
}

/** The counters of `iree-tuned stats`. @param options more of the command */
export const statistics = (
  place: Workplace,
  options: readonly string[] = [],
  env = {},
): Promise<Statistics> => place.asked<Statistics>(['stats', '--json', ...options], { env });
