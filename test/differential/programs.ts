// Runs two modules of one program on the same random inputs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments } from '../../src/compiler/arguments.ts';
import { findRuntimeTool } from '../../src/compiler/find.ts';
import { loadOptionTable } from '../../src/compiler/options.ts';
import { functionsOf } from '../../src/running/callable.ts';
import { writeInputs } from '../../src/program/inputs.ts';
import { compareProgram } from '../../src/program/results.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { elementTypeConversion } from '../../src/input/input.ts';
import { BenchError } from '../../bench/shared/arguments.ts';
import { root, type Workplace } from '../../bench/shared/workplace.ts';

export interface ModuleVerdict {
  /** Whether all compared results are equal; null without results. */
  readonly equal: boolean | null;
  /** Functions whose results were compared. */
  readonly compared: number;
  /** Largest absolute difference of two elements. */
  readonly maxError: number;
  /** The differences, or why a function was not run. */
  readonly reasons: readonly string[];
}

/** Compares the results of two modules, stock's first. `argv` has the flags of both compiles. */
export type CompareModules = (
  file: string,
  argv: readonly string[],
  modules: readonly [stock: Buffer, wrapper: Buffer],
  folder: string,
) => Promise<ModuleVerdict>;

/** Longest call of a function, in seconds. */
const CALL_SECONDS = 60;

/** Runs on one thread. @throws BenchError when the runtime's tools are not installed */
export async function moduleComparison({
  compiler,
  cacheDirectory,
}: Pick<Workplace, 'compiler' | 'cacheDirectory'>): Promise<CompareModules> {
  const tool = (name: string) => {
    const path = findRuntimeTool(name, compiler, process.env, { root, cacheDirectory });
    if (path === undefined) throw new BenchError(`there is no ${name}: pip install iree-base-runtime`);
    return path;
  };
  const tools = { runModule: tool('iree-run-module'), benchmarkModule: tool('iree-benchmark-module') };
  const dumpModule = tool('iree-dump-module');
  const table = await loadOptionTable(compiler.executable, cacheDirectory);
  const device = describeDevice('local-sync');

  return async (file, argv, modules, folder) => {
    const [stock, tuned] = ['stock.vmfb', 'tuned.vmfb'].map((name) => join(folder, name)) as [string, string];
    writeFileSync(stock, modules[0]);
    writeFileSync(tuned, modules[1]);
    const convert = elementTypeConversion(readArguments(argv, table));
    const functions = await functionsOf(readFileSync(file), convert, [], () =>
      Promise.resolve({ module: stock, dumpModule }),
    );
    const reasons = functions.length === 0 ? ['no public function was found'] : [];
    let [compared, maxError, isDifferent] = [0, 0, false];
    for (const [i, called] of functions.entries()) {
      if (called.unsupported !== null) {
        reasons.push(called.unsupported);
        continue;
      }
      const own = join(folder, `inputs${i}`);
      mkdirSync(own);
      const inputs = writeInputs(called, own, i);
      const verdict = await compareProgram(
        { ...{ stock, tuned, device, tools, folder, inputs }, function: called },
        CALL_SECONDS,
      );
      if (verdict.equal !== true) reasons.push(`${called.name}: ${verdict.reason ?? 'not compared'}`);
      if (verdict.equal === null) continue;
      compared++;
      maxError = Math.max(maxError, verdict.maxError);
      isDifferent ||= !verdict.equal;
    }
    return { equal: compared === 0 ? null : !isDifferent, compared, maxError, reasons };
  };
}
