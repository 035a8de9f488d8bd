// A program in rounds on this machine: configurations go into the sources of its executables, of which the compiler makes a module
// without reading the program again.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { askCompiler, withTrailingFlags, type Command } from '../compiler/index.ts';
import { configuredWith, splitProgram, type ConfiguredExecutable } from '../inject/split-program.ts';
import { timeDispatches, type ModuleTimes } from '../measure/compare-modules.ts';
import { sumOf } from '../measure/statistics.ts';
import { StoppedError } from '../measure/toolchain.ts';
import type { Assignment } from '../program/rounds.ts';
import { programRuns, type TunedProgram, type Uncompiled } from '../program/runs.ts';
import type { RoundBench, RoundFailure, RoundModule, WorkloadSeconds } from '../program/tune-in-program.ts';
import { processEffort, runOf } from '../program/verify.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { isDispatchOf, type Work } from '../tuning/tune-workloads.ts';
import { NotVerifiedError } from './callable.ts';
import { untunedCompile } from './compile.ts';
import type { Inspected } from './inspect.ts';
import type { Runnable } from './runnable.ts';
import type { Limits } from './verify-program.ts';

/** Processes of each module in a round, which take turns. */
const PROCESSES = 2;

/** A process that only tells about how long a call takes measures for so many seconds. */
const FIRST_SECONDS = 0.1;

/** How many times as long as stock a program may take that nobody has run; and in seconds, what it may take in any case. */
const PATIENCE = 20;
const LEAST_PATIENCE_SECONDS = 5;

/** A bench for the rounds of a program, and what each workload takes of a run of it by default. */
export interface ReadyRounds {
  readonly bench: RoundBench;
  readonly stock: WorkloadSeconds;
  /** How many dispatches that are, by key. */
  readonly calls: ReadonlyMap<string, number>;
}

/**
 * Splits a program, and runs it once as it is.
 * @throws NotVerifiedError when the compiler does not get as far as its executables
 * @throws StoppedError when the signal fires
 */
export async function roundBench(
  works: readonly Work[],
  command: Command,
  inspected: Inspected,
  { env }: Pick<Surroundings, 'env'>,
  { stock, contests, ...ready }: Runnable,
  limits: Limits,
  signal: AbortSignal,
): Promise<ReadyRounds> {
  const { executable } = command.compiler;
  const { release } = inspected.site.compiler;
  const input = command.arguments.input!;
  const folder = join(ready.folder, 'rounds');
  mkdirSync(folder, { recursive: true });
  const run = async (argv: readonly string[], stdin?: Uint8Array) => {
    const { code, stderr } = await askCompiler(executable, argv, {
      env,
      stdin,
      workSeconds: limits.compileSeconds / 2,
    });
    if (signal.aborted) throw new StoppedError('measuring was stopped');
    return code === 0 ? null : stderr.toString();
  };
  const whole = untunedCompile(command, inspected);
  const resumed = (path: string, flags: readonly string[]) =>
    withTrailingFlags(command.expanded.with(input.index, path), ['--compile-from=flow', ...flags]);
  const split = await splitProgram(
    {
      whole: (flags) => run(withTrailingFlags(whole.argv, flags), whole.stdin),
      resumed: (path, flags) => run(resumed(path, flags)),
    },
    folder,
  );
  if (typeof split === 'string') throw new NotVerifiedError('the compiler does not write its executables');

  const byKey = new Map(works.map((work) => [work.key, work]));
  const configured = (assignment: Assignment): ConfiguredExecutable[] =>
    [...assignment].flatMap(([key, configuration]) => {
      const { workload, executables = [] } = byKey.get(key)!;
      return executables.map((one) => ({ executable: one, workload, configuration }));
    });
  const compile = async (assignment: Assignment, name: string): Promise<RoundModule | RoundFailure> => {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const { flags, files } = configuredWith(split, configured(assignment), release, own);
    const module = join(own, 'program.vmfb');
    const problem = await run(resumed(split.path, [...flags, '-o', module]));
    const keysOf = (isOwn: (executable: string) => boolean) =>
      new Set([...assignment.keys()].filter((key) => byKey.get(key)!.executables?.some(isOwn) === true));
    if (problem === null) {
      const written = new Set(files.values());
      return { module, missing: keysOf((one) => !written.has(one)) };
    }
    const errors = problem.split('\n').filter((line) => line.includes(' error: '));
    const blamed = [...files].filter(([path]) => errors.some((line) => line.startsWith(`${path}:`)));
    const names = new Set(blamed.map(([, one]) => one));
    return { blamed: keysOf((one) => names.has(one)) };
  };

  /** What a call of each function takes by default. */
  let callSeconds = contests.map(() => NaN);
  const timeOnce = async (module: string, isFirst = false): Promise<readonly ModuleTimes[]> => {
    const times: ModuleTimes[] = [];
    for (const [i, contest] of contests.entries()) {
      const patience = Math.max(LEAST_PATIENCE_SECONDS, PATIENCE * callSeconds[i]!);
      const effort = isFirst
        ? { repetitions: 1, minSeconds: FIRST_SECONDS, timeoutSeconds: limits.compileSeconds }
        : processEffort(callSeconds[i]!, patience);
      times.push(await timeDispatches(runOf(contest), module, effort));
    }
    return times;
  };
  const workloadSeconds = (times: readonly ModuleTimes[]): WorkloadSeconds => {
    const dispatches = times.flatMap((one) => [...one.dispatches]);
    return new Map(
      works.flatMap((work): [string, number][] => {
        const own = dispatches.filter(([name]) => isDispatchOf(work, name));
        return own.length === 0 ? [] : [[work.key, sumOf(own.map(([, { seconds }]) => seconds))]];
      }),
    );
  };
  const first = await timeOnce(stock, true);
  callSeconds = first.map(({ seconds }) => seconds);
  const dispatchNames = [...new Set(first.flatMap((one) => [...one.dispatches.keys()]))];

  const bench: RoundBench = {
    confirmingSeconds: limits.runSeconds,
    compile: (assignment, index) => compile(assignment, `round${index}`),
    async time(modules) {
      const all = [stock, ...modules];
      const least = all.map(() => new Map<string, number>());
      const failed = new Set<number>();
      for (let process = 0; process < PROCESSES; process++) {
        const order = [...all.keys()];
        for (const i of process % 2 === 0 ? order : order.toReversed()) {
          if (failed.has(i)) continue;
          try {
            for (const [key, seconds] of workloadSeconds(await timeOnce(all[i]!)))
              least[i]!.set(key, Math.min(seconds, least[i]!.get(key) ?? Infinity));
          } catch (error) {
            if (error instanceof StoppedError || i === 0) throw error;
            failed.add(i);
          }
        }
      }
      return {
        stock: least[0]!,
        tuned: modules.map((_, i) => (failed.has(i + 1) ? null : least[i + 1]!)),
      };
    },
    confirm(best) {
      const compileWith = async (keys: readonly string[]): Promise<TunedProgram | Uncompiled> => {
        const own = new Map([...best].filter(([key]) => keys.includes(key)));
        const compiled = await compile(own, 'best');
        if (!('module' in compiled)) return { problem: 'the compiler refuses it', isLate: false };
        const namesOf = (key: string) => dispatchNames.filter((name) => isDispatchOf(byKey.get(key)!, name));
        return { module: compiled.module, dispatches: new Map(keys.map((key) => [key, namesOf(key)])) };
      };
      return programRuns(contests, latest(compileWith), limits.runSeconds);
    },
  };
  const dispatches = first.flatMap((one) => [...one.dispatches]);
  const calls = new Map(
    works.map((work) => [
      work.key,
      sumOf(dispatches.filter(([name]) => isDispatchOf(work, name)).map(([, one]) => one.calls)),
    ]),
  );
  return { bench, stock: workloadSeconds(first), calls };
}

/** Answers as long as it is asked the same, and then anew: there is one place for what is asked for. */
function latest<T>(ask: (keys: readonly string[]) => Promise<T>): (keys: readonly string[]) => Promise<T> {
  let last: { readonly keys: string; readonly answer: Promise<T> } | null = null;
  return (keys) => {
    if (last?.keys !== keys.join()) last = { keys: keys.join(), answer: ask(keys) };
    return last.answer;
  };
}
