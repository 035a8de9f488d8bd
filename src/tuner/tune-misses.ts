// Tuning on a miss: all missing workloads of one compile within one budget.
import { rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { findRuntimeTool, makeScratchFolder } from '../compiler/index.ts';
import type { TunableOperation } from '../decision/decision.ts';
import { chooseRecord } from '../decision/decision.ts';
import { LONGEST_TIMER_MS, StoppedError, type Toolchain } from '../measure/toolchain.ts';
import { subjectOf } from '../pipeline/decide.ts';
import {
  canDataTile,
  canTilePacked,
  type Command,
  type Subjects,
  type Surroundings,
} from '../pipeline/inspect.ts';
import { coordinateDescent } from '../search/descent.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import { llvmCpuSpace } from '../space/llvm-cpu.ts';
import type { Store } from '../store/store.ts';
import { workloadFlops } from '../workload/workload.ts';
import { acquireMeasuringLock, BUSY } from './lock.ts';
import {
  DEFAULT_EFFORT,
  tuneWorkload,
  type Effort,
  type TuningProgress,
  type TuningResult,
} from './tune-workload.ts';

export interface TuneOptions {
  readonly budgetSeconds: number;
  readonly signal: AbortSignal;
  readonly finishEarly?: AbortSignal;
  readonly strategy?: StrategyFactory;
  readonly effort?: Effort;
  /** Keys to tune even where there is a record. */
  readonly again?: ReadonlySet<string>;
  readonly onProgress?: (progress: TuningProgress) => void;
}

/** What is known of a workload in the end, and whether it was tuned here or found. */
export interface Known extends TuningResult {
  readonly outcome: 'hit' | 'tuned';
}

export interface TuneOutcome {
  readonly results: ReadonlyMap<string, Known>;
  /** Why the others have none. */
  readonly whyNot: string;
}

/** A workload whose tuning cannot have a meaningful budget any more is left for the next build. */
const LEAST_SECONDS = 4;

/**
 * Seconds after the end of the budget at which everything is stopped: what is planned to end in time takes many times
 * as long on a machine that is busy with other things.
 */
const graceSeconds = (budgetSeconds: number): number => Math.max(20, budgetSeconds);

/** What each workload gets where there is so much: a few that are tuned well beat many that are tuned badly. */
const FAIR_SECONDS = 10;

/**
 * Tunes the missing workloads one after the other, the most work first, each with an even share of what is left of the
 * budget as long as that share is fair; what does not fit is left for the next build. Waiting for
 * another process that measures on this machine counts too; what that process found meanwhile is taken over.
 */
export async function tuneMisses(
  misses: readonly TunableOperation[],
  store: Store,
  command: Command,
  subjects: Subjects,
  surroundings: Surroundings,
  options: TuneOptions,
): Promise<TuneOutcome> {
  const results = new Map<string, Known>();
  const clock = () => performance.now() / 1000;
  const end = clock() + options.budgetSeconds;
  const { env, root, cacheDirectory } = surroundings;
  const [benchmarkModule, runModule] = ['iree-benchmark-module', 'iree-run-module'].map((name) =>
    findRuntimeTool(name, command.compiler, env, { root, cacheDirectory }),
  );
  if (benchmarkModule === undefined || runModule === undefined)
    return {
      results,
      whyNot: 'iree-benchmark-module and iree-run-module are not found (pip install iree-base-runtime)',
    };

  // A user who gives less than that in all gets what can be had for it.
  const least = Math.min(LEAST_SECONDS, surroundings.settings.budgetSeconds / 2);
  /** Takes a record over that there is by now: another process that measured while we waited may have made it. */
  const takeOver = (miss: TunableOperation): boolean => {
    if (options.again?.has(miss.key) === true) return false;
    const { target, compiler, device } = subjectOf(miss, subjects);
    const found = chooseRecord(store.findRecords([miss.key], target, compiler), device, true);
    if (found !== null) results.set(miss.key, { ...found, outcome: 'hit' });
    return found !== null;
  };
  const lock = await acquireMeasuringLock(cacheDirectory, options.budgetSeconds, options.signal);
  if (lock === null) {
    misses.forEach(takeOver);
    return { results, whyNot: BUSY };
  }
  const workDirectory = makeScratchFolder(cacheDirectory, 'tuning');
  if (workDirectory === null) {
    lock.release();
    return { results, whyNot: `nothing can be written to the cache folder ${cacheDirectory}` };
  }
  let whyNot = 'the tuning budget is spent';
  const overdueMs = 1000 * (end - clock() + graceSeconds(options.budgetSeconds));
  const overdue = AbortSignal.timeout(Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(overdueMs))));
  try {
    const toolchain: Toolchain = {
      compiler: command.compiler.executable,
      release: subjects.description.release,
      flags: subjects.flags,
      benchmarkModule,
      runModule,
      device: subjects.device,
      workDirectory,
      signal: AbortSignal.any([options.signal, overdue]),
    };
    const order = misses.toSorted((a, b) => workloadFlops(b.workload) - workloadFlops(a.workload));
    for (const [i, miss] of order.entries()) {
      if (takeOver(miss)) continue;
      const left = end - clock();
      // The others may still be found.
      if (left < least || options.finishEarly?.aborted === true) continue;
      const result = await tuneWorkload(toolchain, store, {
        subject: subjectOf(miss, subjects),
        space: llvmCpuSpace(miss.workload, {
          nativeVectorBytes: subjects.target.target.nativeVectorBytes || 16,
          threads: subjects.device.threads,
          dataTiling: canDataTile(subjects, surroundings.settings),
        }),
        packedTiles: canTilePacked(subjects),
        strategy: options.strategy ?? coordinateDescent,
        effort: options.effort ?? DEFAULT_EFFORT,
        budgetSeconds: Math.min(left, Math.max(FAIR_SECONDS, left / (order.length - i))),
        clock,
        createdBy: userName(),
        ...(options.finishEarly && { finishEarly: options.finishEarly }),
        ...(options.onProgress && { onProgress: options.onProgress }),
      });
      if (result === null) whyNot = 'the default could not be compiled and measured within the budget';
      else results.set(miss.key, { ...result, outcome: 'tuned' });
    }
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    whyNot = overdue.aborted
      ? 'tuning took much longer than its budget: the machine is busy'
      : 'tuning was interrupted';
  } finally {
    rmSync(workDirectory, { recursive: true, force: true });
    lock.release();
  }
  return { results, whyNot };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user id without a name.
    return 'unknown';
  }
}
