// Completes the knowledge about the time that a program loses, on request: the times and the work of its dispatches, and the rates of the device.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownCache } from '../backend/device.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import type { Decision } from '../decision/decision.ts';
import { dispatchAmounts } from '../input/dispatch-amounts.ts';
import { ELIDED } from '../input/survey.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { injectedCommand, untunedCompile } from '../plan/injected-command.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { planCompile } from '../plan/route.ts';
import { lossOf } from '../report/loss.ts';
import type { ProgramTimes } from '../report/time-shares.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { BUSY, PATIENCE_SECONDS, takeTurn } from '../site/turn.ts';
import type { Store } from '../store/store.ts';
import { because, type Reason } from '../system/reason.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { messageOf, tell } from '../system/tell.ts';
import { folderOf, NotVerifiedError, type MeasuredProgram } from './callable.ts';
import { compiling } from './compiling.ts';
import { timedRun } from './dispatch-seconds.ts';
import { knownRates, noteRates, ratesPlaceOf } from './known-rates.ts';
import { limitsWithin, whyNotRun } from './limits.ts';
import { cacheRate, memoryRate } from './memory-rate.ts';
import { PEAK_TYPES, peakRate } from './peak-rate.ts';
import { keysOf, programBuilds, runnable } from './program-builds.ts';
import { knownTimes, noteAmounts, noteTimes } from './program-times.ts';

/** A program, and the decisions of its next build. */
type Decided = Pick<MeasuredProgram, 'command' | 'inspected'> & { readonly decisions: readonly Decision[] };

/** The times of a program, and why something was not measured; null if all was. */
export interface MeasuredTimes {
  readonly times: ProgramTimes;
  readonly whyNot: Reason | null;
}

/**
 * Measures the program as the next build ships it, and notes the results.
 * @param isTimed whether it runs again; otherwise only unknown work and rates are measured
 * @throws StoppedError when the signal fires
 */
export async function measureLoss(
  decided: Decided,
  isTimed: boolean,
  store: Store,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<MeasuredTimes> {
  const { command, inspected } = decided;
  const { site } = inspected;
  const known = (whyNot: Reason | null) => ({ times: knownTimes(decided, store), whyNot });
  const why = whyNotMeasured(decided, surroundings);
  if (why !== null) return known(why);
  const isHost = site.device.gpu === undefined;
  if (!isTimed && isComplete(known(null).times, isHost)) return known(null);
  using turn = await takeTurn({ ...surroundings, device: site.device }, PATIENCE_SECONDS);
  if (turn === null) return known(BUSY);
  const limits = limitsWithin(surroundings.settings, command.rewriting !== undefined);
  using kept = new KeptModules();
  const program: MeasuredProgram = { command, inspected, surroundings, kept, limits, signal };
  try {
    if (isTimed) await timeProgram(program, decided.decisions, store);
    const { dispatches } = known(null).times;
    if (dispatches.some(({ amount }) => amount === null))
      await readAmounts(program, decided.decisions, store);
    const types = new Set(known(null).times.dispatches.flatMap(({ amount }) => amount?.type ?? []));
    await measureRates(program, types, false, store);
    // A machine that was busy when its rates were measured is faster than they say.
    if (isTimed && isBeyond(known(null).times)) await measureRates(program, types, true, store);
    return known(null);
  } catch (error) {
    if (error instanceof NotVerifiedError) return known(error.why);
    if (error instanceof StoppedError) throw error;
    return known(because('internal-error', messageOf(error)));
  }
}

/** Why nothing may be measured; null if it may. */
function whyNotMeasured({ inspected }: Decided, { settings }: Surroundings): Reason | null {
  const { site, input } = inspected;
  if (site.whyNotHere !== null) return site.whyNotHere;
  if (site.forDevice !== null) return because('other-device');
  if (settings.readonly) return because('read-only');
  if (settings.frozen) return because('frozen');
  return settings.onMiss === 'tune' ? whyNotRun(input, settings.budgetSeconds) : because('tuning-off');
}

/** Whether somebody has read the dispatches. Some, such as those of initializers, are not in the text. */
const isRead = ({ dispatches }: ProgramTimes): boolean =>
  dispatches.length === 0 || dispatches.some(({ amount }) => amount !== null);

/** Whether a measurement here can give no more bounds. @param isHost whether the rates of the device can be measured */
const isComplete = (times: ProgramTimes, isHost: boolean): boolean =>
  isRead(times) &&
  (!isHost ||
    (times.rates.bytesPerSecond !== null &&
      times.dispatches.every(({ amount }) => {
        const type = amount?.type ?? '';
        return !PEAK_TYPES.includes(type) || times.rates.multiplicationsPerSecond[type] !== undefined;
      })));

const isBeyond = ({ dispatches, wholeSeconds, rates }: ProgramTimes): boolean =>
  lossOf(dispatches, wholeSeconds, rates)?.dispatches.some(({ share }) => share !== null && share > 1) ===
  true;

/** Times the program with its configurations; without them if it does not compile so. */
async function timeProgram(
  program: MeasuredProgram,
  decisions: readonly Decision[],
  store: Store,
): Promise<void> {
  const keys = keysOf(decisions);
  const { contests, stock } = await runnable(program);
  const tuned = keys.length === 0 ? null : await programBuilds(program, decisions).tuned(keys);
  const module = tuned !== null && 'module' in tuned ? tuned.module : stock;
  await noteTimes(program, await timedRun(contests, module, program.limits.runSeconds), store);
}

/** Reads the work of the dispatches from the program as the next build ships it. */
async function readAmounts(
  program: MeasuredProgram,
  decisions: readonly Decision[],
  store: Store,
): Promise<void> {
  const plan = planCompile(program, decisions, program.surroundings);
  const { route } = plan.injection;
  const injected =
    route === 'none' || route === 'substitute' ? null : await injectedCommand(plan, program.surroundings);
  const { argv, stdin }: Compile = injected ?? untunedCompile(program);
  const flow = join(folderOf(program), 'amounts.mlir');
  const toFlow = withTrailingFlags(argv, ['--compile-to=flow', ...ELIDED, '-o', flow]);
  if ((await compiling(program)(toFlow, stdin)) !== null) return;
  noteAmounts(program, dispatchAmounts(readFileSync(flow)), store);
}

/**
 * Measures rates of a CPU and notes them. Disturbances only lower a rate, so the larger of two measurements stays. The caller holds the measuring
 * lock.
 * @param types of factors whose peaks are wanted; others than `PEAK_TYPES` have no peak
 * @param isAgain whether known rates are measured again
 * @throws StoppedError when the signal fires
 */
async function measureRates(
  { command, inspected: { site }, surroundings, signal }: MeasuredProgram,
  types: ReadonlySet<string>,
  isAgain: boolean,
  store: Store,
): Promise<void> {
  const { cacheDirectory, env, settings } = surroundings;
  const { threads } = site.device;
  const place = ratesPlaceOf(site);
  const before = knownRates(place, store);
  const larger = async (old: number | null, what: string, measure: () => Promise<number | null>) => {
    if (old !== null && !isAgain) return old;
    try {
      return Math.max(old ?? 0, (await measure()) ?? 0) || null;
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      tell(`${what} cannot be measured: ${messageOf(error)}`, settings.log);
      return old;
    }
  };
  // Threads of this process read the memory, which is not that of a runner.
  const isHere = settings.runner === undefined;
  const bytesPerSecond = isHere
    ? await larger(before.bytesPerSecond, 'the memory rate', () => memoryRate(threads))
    : null;
  const own = isHere ? ownCache(site.device) : null;
  const oldCache = before.cache?.bytesPerSecond ?? null;
  const cached = own && (await larger(oldCache, 'the rate of caches', () => cacheRate(threads, own)));
  const tools = findMeasuringTools(command.compiler, env, surroundings);
  const multiplicationsPerSecond: Record<string, number> = { ...before.multiplicationsPerSecond };
  if (tools !== null)
    await withScratchFolder(cacheDirectory, 'rates', async (folder) => {
      for (const type of PEAK_TYPES.filter((one) => types.has(one))) {
        const old = before.multiplicationsPerSecond[type] ?? null;
        const measure = () => peakRate(type, site, tools, folder, cacheDirectory, signal);
        const peak = await larger(old, `the peak of ${type}`, measure);
        if (peak !== null) multiplicationsPerSecond[type] = peak;
      }
    });
  const cache = own && cached ? { bytes: threads * own, bytesPerSecond: cached } : null;
  noteRates(place, { bytesPerSecond, cache, multiplicationsPerSecond }, store);
}
