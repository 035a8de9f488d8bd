// Measures one ONNX model: ONNX Runtime, stock and tuned.
import { moduleTimer, timeAll, type Timer } from '../../src/running/comparison/rounds.ts';
import { comparisonOf, type ModuleComparison } from '../../src/measure/compare-modules.ts';
import { compareProgram } from '../../src/program/results.ts';
import type { Contest, Verdict } from '../../src/program/verify.ts';
import { messageOf } from '../../src/system/tell.ts';
import type { Explanation } from '../../src/report/explain.ts';
import { BenchError } from '../shared/arguments.ts';
import type { DispatchTime } from '../shared/dispatch-time.ts';
import { changingFlags, mainOf, rootsOf } from '../shared/program.ts';
import { compileBoth, type Compiled, type State, type Tools } from '../shared/stock-and-tuned.ts';
import { HOST_FLAGS } from '../shared/workplace.ts';
import { timeAllDispatches } from './dispatches.ts';
import { kindShares, type KindShare } from './kinds.ts';
import { errorsOf } from './outputs.ts';
import type { Peer } from './peer.ts';
import type { Prepared, Request } from './prepared.ts';

/** How the measurement of one model ended; null for missing values. */
export interface Outcome {
  readonly model: string;
  readonly state: State | 'not prepared' | 'not measured';
  /** Why a measurement is missing, or the first difference of results. */
  readonly reason: string | null;
  /** Verdict on tuned against stock. */
  readonly verdict: Verdict | null;
  readonly sameCode: boolean;
  /** Wall time of each compile; that of tuned includes tuning. */
  readonly compileSeconds: Compiled['seconds'] | null;
  readonly explanation: Explanation | null;
}

/** Measurements of one model; null for missing ones. */
export interface Result extends Outcome {
  readonly onnxRuntime: PeerResult | null;
  /** Shares of the tuned program's time. */
  readonly kinds: readonly KindShare[];
  readonly dispatches: {
    readonly stock: readonly DispatchTime[];
    readonly tuned: readonly DispatchTime[];
  } | null;
}

/** Comparison with ONNX Runtime. */
interface PeerResult {
  /** Relative error of each result: see `relativeError`. */
  readonly relativeErrors: { readonly stock: readonly number[]; readonly tuned: readonly number[] };
  /** Above 1, the program is faster than ONNX Runtime. */
  readonly stock: ModuleComparison;
  readonly tuned: ModuleComparison;
}

export interface Setting {
  readonly tools: Tools;
  readonly peer: Peer;
  readonly rounds: number;
  /** Makes the files of a model. @throws BenchError when that fails */
  prepare(request: Request): Promise<Prepared>;
}

/** About the time of all rounds of one model. */
export const TIMING_SECONDS = 120;
/** Time limit of a process that calls a model once. */
export const CALL_SECONDS = 60;

type Contestant = 'onnxRuntime' | 'stock' | 'tuned';

/** Measures one model. A failure is a result. */
export async function measure(request: Request, folder: string, setting: Setting): Promise<Result> {
  const nothing: Result = {
    ...{ model: request.name, verdict: null, sameCode: false, onnxRuntime: null, compileSeconds: null },
    ...{ kinds: [], dispatches: null, explanation: null },
    ...{ state: 'not prepared', reason: null },
  };
  let model: Prepared;
  try {
    model = await setting.prepare(request);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return { ...nothing, reason: error.message };
  }
  // Compile everything first: a compile would disturb the timing.
  const compiled = await compileBoth(model.program, folder, HOST_FLAGS, setting.tools);
  const { state, sameCode, explanation, seconds: compileSeconds } = compiled;
  const base: Result = { ...nothing, state, reason: compiled.error, sameCode, explanation, compileSeconds };
  if (compiled.error !== null) return base;
  try {
    return { ...base, ...(await compare(model, compiled, folder, setting)) };
  } catch (error) {
    return { ...base, state: 'not measured', reason: messageOf(error) };
  }
}

/** Compares results, then times, then dispatches. */
async function compare(
  model: Prepared,
  { stock, tuned, sameCode, explanation }: Compiled,
  folder: string,
  { tools, peer, rounds }: Setting,
): Promise<Partial<Result>> {
  const roots = await rootsOf(model.program, folder, tools.place, changingFlags(explanation?.command ?? []));
  const inputs = model.inputs.map((path) => `@${path}`);
  const contest: Contest = {
    ...{ stock, tuned, inputs, flags: model.run, function: mainOf(model.program) },
    ...{ device: tools.device, tools, folder },
  };
  const { hasFailed, equal, maxError, compared, reason } = await compareProgram(contest, CALL_SECONDS);
  const verdict: Verdict = { equal, maxError, compared, reason, timing: null };
  if (hasFailed) return { verdict, reason, ...(equal === null && { state: 'not measured' }) };
  const programs = { stock, tuned: sameCode ? null : tuned };
  const peers = await peer.run(model, contest.function.results.length, folder);
  const errors = async (module: string) => (await errorsOf(contest, module, [peers]))[0]!;
  const ofStock = await errors(stock);
  const relativeErrors = { stock: ofStock, tuned: sameCode ? ofStock : await errors(tuned) };
  const timers = new Map<Contestant, Timer>([
    ['stock', moduleTimer(contest, stock)],
    ['onnxRuntime', (effort) => peer.time(model, effort)],
  ]);
  // The same code is timed once.
  if (!sameCode) timers.set('tuned', moduleTimer(contest, tuned));
  const times = await timeAll(timers, { rounds, seconds: TIMING_SECONDS });
  const against = (first: Contestant, second: Contestant) =>
    comparisonOf(times.map((round) => [round.get(first)!, (round.get(second) ?? round.get('stock'))!]));
  const dispatches = await timeAllDispatches(contest, programs);
  return {
    ...{ reason, dispatches },
    verdict: { ...verdict, timing: against('stock', 'tuned') },
    onnxRuntime: {
      relativeErrors,
      stock: against('onnxRuntime', 'stock'),
      tuned: against('onnxRuntime', 'tuned'),
    },
    kinds: kindShares(dispatches?.tuned ?? [], roots.keys()),
  };
}
