// Compares the results of tuned programs with those of stock. A result may be as far from stock's as honest builds are from each other.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { furthest, Scale, type Deviation, type Furthest } from '../measure/deviation.ts';
import { decodeElements, type Elements } from '../measure/elements.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { largestError } from '../measure/verify.ts';
import { messageOf } from '../system/tell.ts';
import { Draws, patienceFor, removeAll, runProgram, type Draw, type Failure } from './draws.ts';
import { largestShift } from './shift.ts';
import { isFloat } from '../workload/element-type.ts';
import type { Contest, StockContest, Verdict } from './verify.ts';

type Equality = Omit<Verdict, 'timing'>;

/** Result of running both programs. */
export interface Compared extends Equality {
  /** Whether a run failed. */
  readonly hasFailed: boolean;
  /** Whether the time was over before it was known if a difference is more than rounding. */
  readonly isLate: boolean;
  /** The largest difference, as a multiple of the allowed one: above 1, it is an error. */
  readonly times: number;
  /** Seconds of the longest process of each program, each of which calls the function once; NaN if one failed. */
  readonly seconds: readonly [stock: number, tuned: number];
}

/**
 * Compares a tuned module's results with stock's. Crashes, missing files and calls of more than `callSeconds` are verdicts. It rejects
 * with StoppedError when the signal fires.
 * @param isTimeLeft whether the programs may run once more
 */
export type CompareResults = (
  tuned: string,
  callSeconds: number,
  isTimeLeft?: () => boolean,
) => Promise<Compared>;

/**
 * Stock runs once on each draw of inputs. After a difference, honest references show how far rounding alone moves the results. The contents
 * of overwritten arguments are not compared, because the tools do not print them.
 */
export function comparisonWith(stock: StockContest): CompareResults {
  const draws = new Draws(stock);
  return (...of) =>
    compare(stock, draws, ...of).catch((error: unknown) => {
      if (error instanceof StoppedError) throw error;
      return failed(null, messageOf(error));
    });
}

/** Compares the results of both programs once, and removes them. See `CompareResults`. */
export async function compareProgram(contest: Contest, callSeconds: number): Promise<Compared> {
  const folder = await mkdtemp(join(contest.folder, 'compared-'));
  try {
    return await comparisonWith({ ...contest, folder })(contest.tuned, callSeconds);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Calls the untuned program once. Returns why that fails, or null.
 * @throws StoppedError when the signal fires
 */
export async function failureOf(contest: StockContest, callSeconds: number): Promise<string | null> {
  const { stock, inputs, flags = [], folder } = contest;
  const run = await runProgram(contest, stock, { inputs, flags }, join(folder, 'tried'), callSeconds);
  return 'failure' in run ? run.failure : null;
}

/** A difference of fewer times the allowed one may be chance. Then the results on other inputs decide. */
const DOUBTFUL = 16;

/** Other inputs to settle a doubtful difference. */
const MORE_DRAWS = 2;

async function compare(
  stock: StockContest,
  draws: Draws,
  tuned: string,
  callSeconds: number,
  isTimeLeft: () => boolean = () => true,
): Promise<Compared> {
  const usable = await draws.usable(callSeconds, isTimeLeft);
  if ('failure' in usable) return failed(null, `stock cannot be run: ${usable.failure}`);
  let seconds: Compared['seconds'] = [0, 0];
  const seen: Judged[] = [];
  const result = (equality: Pick<Equality, 'equal' | 'reason'>, isLate = false): Compared => {
    const maxError = Math.max(0, ...seen.map((one) => one.maxError));
    const times = Math.max(0, ...seen.map((one) => one.times));
    return { ...equality, maxError, compared: wordsOf(seen), isLate, hasFailed: false, seconds, times };
  };
  if ('problem' in usable) return { ...result({ equal: null, reason: usable.problem }), maxError: Infinity };
  const judge = async (draw: Draw): Promise<Judged | Failure> => {
    const own = await draws.run(tuned, draw.call, 'tuned', patienceFor(draw, callSeconds));
    if ('failure' in own) return own;
    seconds = [Math.max(seconds[0], draw.seconds), Math.max(seconds[1], own.seconds)];
    let judged = await judgeNow(stock, draws, draw, own.files);
    let isLate = false;
    while (judged.difference !== null && judged.times < Infinity) {
      isLate = !isTimeLeft();
      if (isLate || !(await draws.refer(draw, callSeconds))) break;
      judged = await judgeNow(stock, draws, draw, own.files);
    }
    await removeAll(own.files);
    seen.push(judged);
    return { ...judged, isLate };
  };
  const doubts: Judged[] = [];
  for (const draw of usable) {
    const judged = await judge(draw);
    if ('failure' in judged) return failed(false, `tuned cannot be run: ${judged.failure}`);
    const { difference: reason, times, isLate } = judged;
    if (reason === null) continue;
    if (isLate) return result({ equal: null, reason }, true);
    if (times >= DOUBTFUL || stock.isRandom !== true || stock.isGroup === true)
      return result({ equal: false, reason });
    doubts.push(judged);
  }
  const [doubt] = doubts;
  let isSettled = doubts.length > 1;
  for (let i = 0; i < MORE_DRAWS && doubts.length === 1 && isTimeLeft(); i++) {
    const draw = await draws.another(i, callSeconds);
    const judged = draw && (await judge(draw));
    if (judged === null || 'failure' in judged || judged.isLate) break;
    isSettled = judged.difference !== null || i === MORE_DRAWS - 1;
    if (judged.difference !== null) doubts.push(judged);
  }
  if (doubts.length > 1 || (doubt !== undefined && !isSettled))
    return result({ equal: false, reason: doubt!.difference });
  const isMoved = stock.isRandom === true && stock.isGroup !== true && seen.some(({ off }) => off > 0);
  const mayShift = isMoved && (await draws.isQuantized(usable[0]!));
  const shift = mayShift ? await largestShift(stock, draws, tuned, seconds, callSeconds, isTimeLeft) : null;
  const unproven = unprovenOf(stock, seen);
  const judged =
    shift !== null && shift.times > 1
      ? result({ equal: false, reason: shift.reason })
      : result({ equal: unproven === null ? true : null, reason: unproven });
  return { ...judged, times: Math.max(judged.times, shift?.times ?? 0) };
}

const failed = (equal: false | null, reason: string): Compared => ({
  ...{
    equal,
    reason,
    maxError: Infinity,
    compared: null,
    isLate: false,
    hasFailed: true,
    seconds: [NaN, NaN],
    times: NaN,
  },
});

/** The results of a tuned program on one draw. */
interface Judged {
  /** Largest absolute difference of two elements. */
  readonly maxError: number;
  /** Largest error of a whole result as a share of its size, and that of honest builds; null if no reference ran. */
  readonly off: number;
  readonly honest: number | null;
  /** The result that differs most, in words; null if all are equal within the rounding of honest builds. */
  readonly difference: string | null;
  /** The largest difference, as a multiple of the allowed one. */
  readonly times: number;
  /** Whether there was no time for references. */
  readonly isLate: boolean;
  /** For each result, why it proves nothing; null if a wrong result would be found. */
  readonly unproven: readonly (string | null)[];
}

/** Compares one result of both programs at a time, because all results of a large program may exceed the memory. */
async function judgeNow(
  { function: { arguments: given, results } }: StockContest,
  draws: Draws,
  draw: Draw,
  tuned: readonly string[],
): Promise<Judged> {
  let [maxError, times, off] = [0, 0, 0];
  let usual: number | null = null;
  let difference: string | null = null;
  const mayRound = given.some(({ elementType }) => isFloat(elementType));
  const differs = (i: number, reason: string, by = Infinity, error = Infinity) => {
    if (difference === null || by >= times) difference = `result ${i}: ${reason}`;
    [times, maxError] = [Math.max(times, by), Math.max(maxError, error)];
  };
  const unproven: Judged['unproven'][number][] = [];
  for (const [i, type] of results.entries()) {
    const { elementType } = type;
    const [before, after] = [await readFile(draw.files[i]!), await readFile(tuned[i]!)];
    const isEqual = Buffer.compare(before, after) === 0;
    const isZero = before.every((byte) => byte === 0);
    let open = isZero ? ZEROS : null;
    const [want, got] = [before, after].map((bytes) => decodeElements(bytes, elementType));
    if (before.length !== after.length) differs(i, `${after.length} bytes instead of ${before.length}`);
    else if (!want || !got) {
      if (!isEqual) differs(i, `elements of type ${elementType} differ`);
    } else if (isEqual && draws.honestAt(i).length === 0) {
      // Half of the values is further off than every floor. Guards are most elements of small results.
      if (!isZero && !hasNumber(want)) open = NOISE;
    } else {
      const scale = new Scale(want, type);
      const honest = draws.honestAt(i);
      const most = (other: readonly Deviation[]) => furthest(type, scale, other, honest, mayRound);
      const isWrong = (one: Furthest | null) => one !== null && one.times > 1;
      const own = scale.between(want, got);
      const found = isEqual ? null : most(own);
      if (!isEqual) maxError = Math.max(maxError, largestError(want, got));
      times = Math.max(times, found?.times ?? 0);
      off = Math.max(off, normOf(own));
      if (honest.length > 0) usual = Math.max(usual ?? 0, ...honest.map(normOf));
      if (isWrong(found)) differs(i, describe(found!, want, got), found!.times, 0);
      // If half of each value would pass, the result proves nothing.
      if (
        !isZero &&
        !isWrong(most(scale.halves)) &&
        !isWrong(most(scale.between(want, halved(want, elementType))))
      )
        open = NOISE;
    }
    unproven.push(open);
  }
  return { maxError, off, honest: usual, difference, times, isLate: false, unproven };
}

/** Error of a whole result as a share of its size. */
const normOf = (classes: readonly Deviation[]) => Math.max(0, ...classes.map(({ norms }) => norms[0]!));

/** The data of the comparison, the difference, and how far stock itself moves. */
function wordsOf(seen: readonly Judged[]): string | null {
  if (seen.length === 0) return null;
  const data = seen.length === 1 ? 'one call' : `${seen.length} calls`;
  const off = Math.max(...seen.map((one) => one.off));
  const honest = Math.max(...seen.map((one) => one.honest ?? -1));
  const difference = off === 0 ? 'equal bit for bit' : `off by ${shown(off)} of the size of a result`;
  const stock = honest < 0 ? '' : `; stock itself moves by ${shown(honest)}`;
  return `${difference} in ${data}${stock}`;
}

const ZEROS = 'is zero on random inputs';
const NOISE = 'moves by half of its value when its inputs move in their last bits';

/** Why results prove nothing on all draws; null if they do. Results of zeros are not held against the others of one function. */
function unprovenOf(
  { function: { results }, isGroup = false }: StockContest,
  seen: readonly Judged[],
): string | null {
  const open = results.map((_, i) => {
    const reasons = seen.map(({ unproven }) => unproven[i] ?? null);
    return reasons.includes(null) ? null : (reasons.find((one) => one !== ZEROS) ?? ZEROS);
  });
  const noise = open.findIndex((reason) => reason !== null && (isGroup || reason !== ZEROS));
  if (noise >= 0) return `result ${noise} ${open[noise]!}`;
  return open.includes(null) ? null : `each result ${ZEROS}`;
}

/** Whether an element is neither 0 nor NaN. */
function hasNumber(elements: Elements): boolean {
  for (let i = 0; i < elements.length; i++) if (Math.abs(Number(elements[i])) > 0) return true;
  return false;
}

/** Half of each float; zeros for integers. */
function halved(elements: Elements, elementType: string): Elements {
  const all = new Float64Array(elements.length);
  if (isFloat(elementType))
    for (let i = 0; i < all.length; i++) {
      const value = Number(elements[i]);
      all[i] = Number.isFinite(value) ? value / 2 : 0;
    }
  return all;
}

function describe({ what, at, by, honest }: Furthest, want: Elements, got: Elements): string {
  const stock = `stock itself moves by ${shown(honest)}`;
  const element = `element ${at} is ${Number(got[at])} instead of ${Number(want[at])}`;
  if (what === 'element') return `${element} (off by ${shown(by)} of its size; ${stock})`;
  return `${what} is off by ${shown(by)} of its size, and ${stock}; ${element}`;
}

const shown = (value: number) => Number(value.toPrecision(2)).toString();
