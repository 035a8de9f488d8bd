// Compiles a program with the real compiler and with the wrapper.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Device } from '../../src/backend/device.ts';
import { build, buildTuned, type Build } from '../../src/running/comparison/build.ts';
import { findRuntimeTool } from '../../src/compiler/find.ts';
import type { Explanation } from '../../src/report/explain.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { BenchError } from './arguments.ts';
import { root, wrapperEnvironment, type Workplace } from './workplace.ts';

export interface Tools {
  readonly place: Workplace;
  /** Settings of the wrapper, by names without `IREE_TUNED_`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly budgetSeconds: number;
  readonly runModule: string;
  readonly benchmarkModule: string;
  readonly dumpModule: string;
  readonly device: Device;
}

/**
 * @param options.folder for the wrapper's database and cache; undefined for the workplace's folder, which is removed at the end
 * @param options.budgetSeconds of tuning, per program
 * @throws BenchError when a tool of the runtime is missing
 */
export function openTools(
  place: Workplace,
  options: { readonly driver: string; readonly budgetSeconds: number; readonly folder: string | undefined },
): Tools {
  const { driver, budgetSeconds } = options;
  const kept = resolve(options.folder ?? place.folder);
  mkdirSync(kept, { recursive: true });
  return {
    place,
    settings: {
      DB: join(kept, 'tuning.sqlite'),
      CACHE: join(kept, 'cache'),
      BUDGET: String(budgetSeconds),
      DEVICE: driver,
    },
    budgetSeconds,
    runModule: runtimeTool('iree-run-module', place),
    benchmarkModule: runtimeTool('iree-benchmark-module', place),
    dumpModule: runtimeTool('iree-dump-module', place),
    device: describeDevice(driver),
  };
}

function runtimeTool(name: string, { compiler, cacheDirectory }: Workplace): string {
  const path = findRuntimeTool(name, compiler, process.env, { root, cacheDirectory });
  if (path === undefined) throw new BenchError(`${name} is missing: pip install iree-base-runtime`);
  return path;
}

/** Time limit of a compile, without tuning. */
const COMPILE_SECONDS = 600;

/** Compiles a program with the real compiler. @param module path of the output */
export const compileStock = (
  path: string,
  module: string,
  flags: readonly string[],
  { place }: Pick<Tools, 'place'>,
): Promise<Build> => {
  const compiler = place.compiler.executable;
  return build({ compiler, argv: [...flags, path], limitSeconds: COMPILE_SECONDS }, module);
};

export type State = 'stock does not compile' | 'broken' | 'compiled by both';

export interface Compiled {
  readonly state: State;
  /** Message of the failed compiler; null if both compiled the program. */
  readonly error: string | null;
  /** Paths of the two modules, which exist if both compiled the program. */
  readonly stock: string;
  readonly tuned: string;
  /** Whether both modules have the same bytes. Their times then differ only by noise. */
  readonly sameCode: boolean;
  /** The wrapper's explain JSON; null if there is none. */
  readonly explanation: Explanation | null;
  /** Wall time of each compile; null for a compile that was not tried. */
  readonly seconds: { readonly stock: number; readonly tuned: number | null };
}

/** Compiles a program into `folder`: first with the real compiler, then with the wrapper, which tunes. */
export async function compileBoth(
  path: string,
  folder: string,
  flags: readonly string[],
  tools: Tools,
): Promise<Compiled> {
  const { place, settings, budgetSeconds } = tools;
  const [stock, tuned] = ['stock.vmfb', 'tuned.vmfb'].map((name) => join(folder, name)) as [string, string];
  const paths = { stock, tuned };
  const first = await compileStock(path, stock, flags, tools);
  if (first.error !== null) {
    const seconds = { stock: first.seconds, tuned: null };
    return {
      ...{ ...paths, seconds, sameCode: false, explanation: null },
      ...{ state: 'stock does not compile', error: first.error },
    };
  }
  const second = await buildTuned(
    {
      ...{ compiler: place.wrapper, argv: [...flags, path], env: wrapperEnvironment(place, settings) },
      limitSeconds: COMPILE_SECONDS + 2 * budgetSeconds,
    },
    tuned,
  );
  const rest = {
    ...{ ...paths, explanation: second.explanation },
    seconds: { stock: first.seconds, tuned: second.seconds },
  };
  if (second.error !== null) return { ...rest, sameCode: false, state: 'broken', error: second.error };
  const sameCode = readFileSync(stock).equals(readFileSync(tuned));
  return { ...rest, sameCode, state: 'compiled by both', error: null };
}
