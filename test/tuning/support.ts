import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import type { Store, Subject } from '../../src/store/store.ts';
import { configurationKey } from '../../src/backend/index.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Batch, Bench } from '../../src/tuning/bench.ts';
import { realBench } from '../../src/tuning/real-bench.ts';
import { tuneTogether, type Budget } from '../../src/tuning/tune-together.ts';
import type { TuningResult } from '../../src/tuning/result.ts';
import { DEFAULT_EFFORT, type SearchJob } from '../../src/tuning/search-job.ts';
import { WorkloadSearch } from '../../src/tuning/workload-search.ts';
import { subjectOf } from '../store/samples.ts';
import { open, temporaryPath } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { operationWork } from '../support/operation-work.ts';
import { toolchain } from '../support/real-tools.ts';
import { simulatedTools } from '../support/simulated-tools.ts';
import { matmul } from '../support/workloads.ts';

/** A search that is alone. */
export interface TuningJob extends SearchJob, Pick<Budget, 'finishEarly'> {}

export const isSame = (a: Configuration, b: Configuration): boolean =>
  configurationKey(a) === configurationKey(b);

/** A matmul with its space, and the first starts of the space. */
export function squareMatmul(options = SPACE) {
  const shape = matmul(256, 256, 256);
  const space = llvmCpu.tuning(shape).space(options);
  const [first, second] = space.starts.map((start) => space.configurationAt(start)!);
  return { shape, space, first: first!, second: second!, subject: subjectOf(256, { workloadForm: shape }) };
}

/** An empty database that the test's end closes. */
export const newStore = (): Store => open(temporaryPath());

/** A search for a subject without a limit of time. */
export const jobOf = (subject: Subject, change: Partial<TuningJob> = {}): TuningJob => ({
  ...{ subject, backend: llvmCpu, options: SPACE, strategy: coordinateDescent, effort: DEFAULT_EFFORT },
  ...{ budgetSeconds: 1000, clock: () => 0 },
  ...change,
});

/** Seconds of this process. */
export const realClock = () => performance.now() / 1000;

/** Tools whose timings are simulated: the compiler copies the text of modules. */
export async function simulatedToolchain(folder = temporaryDirectory()): Promise<Toolchain> {
  const workDirectory = join(folder, 'work', 'tuning-test');
  mkdirSync(workDirectory, { recursive: true });
  const compiler = simulatedTools(join(folder, 'tools'));
  const beside = (name: string) => join(dirname(compiler), '..', '..', '_runtime_libs', name);
  return {
    ...(await toolchain(workDirectory)),
    ...{ compiler, benchmarkModule: beside('iree-benchmark-module'), runModule: beside('iree-run-module') },
  };
}

/** Tunes a workload that is alone. */
export async function tuneWorkload(bench: Bench, store: Store, job: TuningJob): Promise<TuningResult | null> {
  const { clock, effort, finishEarly, budgetSeconds } = job;
  const part = {
    search: new WorkloadSearch(bench, store, job),
    count: 1,
    likelyCost: 1,
    programSeconds: null,
  };
  let known: TuningResult | null = null;
  const end = clock() + budgetSeconds;
  await tuneTogether(
    [part],
    {
      end,
      clock,
      effort,
      leastSeconds: 0,
      compilesAtOnce: 1,
      isAlone: true,
      ...(finishEarly && { finishEarly }),
    },
    (_, result) => {
      known = result;
    },
  );
  return known;
}

/** Tunes with timings of these tools. */
export const tuneWith = (tools: Toolchain, store: Store, job: TuningJob) =>
  tuneWorkload(realBench(tools, operationWork(job.subject.workloadForm)), store, job);

/** A batch of one process. Seconds are at each size; null for a configuration that failed, and for a default that was not timed. */
export function batchOf(
  configurations: readonly Configuration[],
  defaultSeconds: readonly number[] | null,
  ...seconds: readonly (readonly number[] | null)[]
): Batch {
  const contestants = configurations.map((configuration) => ({
    ...{ configuration, name: configurationKey(configuration), maxError: 0 },
  }));
  const timed = contestants.flatMap(({ name }, i) => (seconds[i] ? [[name, seconds[i]] as const] : []));
  const process = {
    placement: 'apart',
    build: 0,
    failed: new Map<string, string>(),
    repetitions: 3,
  } as const;
  return {
    contestants,
    processes: [{ ...process, defaultSeconds, seconds: new Map(timed) }],
    failed: configurations.flatMap((configuration, i) =>
      seconds[i] === null ? [{ configuration, outcome: 'run-error', reason: 'no' }] : [],
    ),
    problem: null,
  };
}
