// Inputs for comparing the results of a program, and how far honest builds are from each other on them.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Scale, type Deviation } from '../measure/deviation.ts';
import { decodeElements, type Elements } from '../measure/elements.ts';
import { isQuantized } from '../measure/quantized.ts';
import { callFunction } from '../measure/verify.ts';
import { isFloat } from '../workload/element-type.ts';
import { movedInputs, scaledInputs, writeInputs } from './inputs.ts';
import type { StockContest } from './verify.ts';
import { keepRanges, writtenRanges, type Range } from './written.ts';

/** Inputs of one call. */
export interface Call {
  /** Values of `--input=`, such as `4x8xf32=@input0.bin`. */
  readonly inputs: readonly string[];
  /** More flags, such as those of parameters. */
  readonly flags: readonly string[];
}

/** A call that failed. */
export interface Failure {
  readonly failure: string;
}

export interface Results {
  /** One raw file per result. */
  readonly files: readonly string[];
  /** Seconds of the whole process. */
  readonly seconds: number;
}

/** Inputs, and stock's results on them. */
export interface Draw extends Results {
  readonly call: Call;
  /** Deviations of honest results from each other. For each result, a list with one entry for each pair. */
  readonly honest: readonly (readonly Deviation[])[][];
  /** Number of kinds of references that have run. */
  levels: number;
}

/** A draw, and stock's results on it after few inputs moved by a step. */
export interface Stepped extends Pick<Results, 'files'> {
  readonly draw: Draw;
}

/** Ways to draw inputs, the best first. Scaled inputs keep the results of many layers finite, positive inputs have roots. */
type Kind = 'given' | 'scaled' | 'positive';

/** Seeds of the moves of all inputs in their last bits. */
const MOVES = [1, 2];

/** Seconds of a call that moves only once. */
const LONG_CALL = 1;

/** Seconds of a call that is enough: another one would take too much of a budget. */
const SLOW_CALL = 3;

/**
 * Honest references, the cheapest first. Moves in the last bits are lost where a network quantizes its inputs, and a sum inside that rounds
 * the other way moves many of its results. Moves of three inputs by about one step show how far.
 */
const REFERENCES = ['moved', 'builds', 'steps'] as const;

/**
 * Share of the deviation by a step that counts, because a step is more than rounding. A quantized MobileNetV2 moves by 0.050 to 0.074 of its results then,
 * an honest build by 0.036 to 0.066, and a wrong channel by 0.127 to 0.21.
 */
const STEPS_SHARE = 0.75;

/** Smaller deviations of each class, of as many elements. */
const shareOf = (deviations: readonly Deviation[], share: number): Deviation[] =>
  deviations.map((one) => ({
    ...one,
    worst: one.worst * share,
    norms: one.norms.map((norm) => norm * share),
    tilts: one.tilts.map((tilt) => tilt * share),
  }));

/** Draws of inputs for one function. Stock runs once on each, and references only on request. */
export class Draws {
  readonly #stock: StockContest;
  #folder: Promise<string> | null = null;
  readonly #known = new Map<string, Promise<Draw | Failure | null>>();
  readonly #all: Draw[] = [];
  readonly #stepped: Promise<Stepped | null>[] = [];
  #kind: Kind = 'given';
  /** The parts of the results that are compared; null for all. */
  #written: readonly (readonly Range[])[] | null = null;

  constructor(stock: StockContest) {
    this.#stock = stock;
  }

  /**
   * Draws on which stock's results can be compared: one, or two if several arguments may be weights.
   * @returns why there is none: stock does not run, or has only results that prove nothing
   */
  async usable(
    callSeconds: number,
    isTimeLeft: () => boolean,
  ): Promise<readonly Draw[] | Failure | { readonly problem: string }> {
    const { isRandom, isGroup = false, function: called, draws: asked, given } = this.#stock;
    const tensors = called.arguments.filter(
      ({ shape, elementType }, i) =>
        given?.has(i) !== true && (shape?.length ?? 0) > 1 && isFloat(elementType),
    );
    const wanted = asked ?? (isRandom === true && tensors.length > 1 ? 2 : 1);
    const kinds: readonly Kind[] = isRandom === true ? ['given', 'scaled', 'positive'] : ['given'];
    const finite: Draw[] = [];
    /** Of a group in which some functions need positive inputs. The others prove something. */
    let mixed: Draw | null = null;
    let other: Draw | null = null;
    let problem: string | null = null;
    for (const kind of kinds) {
      if (mixed !== null && kind === 'scaled') continue;
      // A group takes long because of its size.
      const isSlow = !isGroup && finite.some(({ seconds }) => seconds > SLOW_CALL);
      const isEnough = isSlow || kind === 'positive' || !isTimeLeft();
      if (finite.length >= wanted || (finite.length > 0 && isEnough)) break;
      const draw = await this.#draw(kind, () => this.#inputsOf(kind, this.#stock.inputs), callSeconds);
      if (draw === null) continue;
      if ('failure' in draw) {
        if (kind === 'given' || isGroup) return draw;
        continue;
      }
      const bad = await badResult(this.#stock, draw);
      if (bad !== null && isGroup) {
        if (kind !== 'given' || !bad.isNaN) return { problem: bad.reason };
        mixed = draw;
        continue;
      }
      if (bad === null) finite.push(draw);
      else if (bad.isNaN) problem ??= bad.reason;
      else other ??= draw;
      if (bad === null && finite.length === 1) this.#kind = kind;
    }
    if (finite.length > 0) return mixed === null ? finite : [mixed, ...finite];
    return other === null ? { problem: problem ?? 'there are no inputs' } : [other];
  }

  /** A draw with other random values; null if it is not usable. */
  async another(i: number, callSeconds: number): Promise<Draw | null> {
    const folder = join(await this.#ownFolder(), `other${i}`);
    await mkdir(folder, { recursive: true });
    const { function: called, given } = this.#stock;
    const inputs = () => this.#inputsOf(this.#kind, writeInputs(called, folder, SEED + i, given));
    const draw = await this.#draw(`other${i}`, inputs, callSeconds);
    if (draw === null || 'failure' in draw) return null;
    return (await badResult(this.#stock, draw)) === null ? draw : null;
  }

  /** Another draw, and stock's results on it after few inputs moved by a step; null if it is not usable. */
  stepped(i: number, callSeconds: number): Promise<Stepped | null> {
    const make = async (): Promise<Stepped | null> => {
      const draw = await this.another(i, callSeconds);
      if (draw === null) return null;
      const run = await this.#runMoved(draw, 'steps', MOVES[0]!, `stepped${i}-`, callSeconds);
      return 'failure' in run ? null : { draw, files: run.files };
    };
    const known = this.#stepped[i] ?? make();
    this.#stepped[i] = known;
    return known;
  }

  /** Deviations of honest results from each other on all draws. */
  honestAt(result: number): readonly (readonly Deviation[])[] {
    return this.#all.flatMap(({ honest }) => honest[result]!);
  }

  /**
   * Runs the next kind of references.
   * @returns whether there is one
   */
  async refer(draw: Draw, callSeconds: number): Promise<boolean> {
    const kind = REFERENCES[draw.levels++];
    if (kind === undefined || (kind === 'steps' && !(await this.isQuantized(draw)))) return false;
    const seeds = draw.seconds > LONG_CALL ? MOVES.slice(0, 1) : MOVES;
    const runs =
      kind === 'builds'
        ? ((await this.#stock.otherBuilds?.()) ?? []).map(
            (module, i) => () => this.run(module, draw.call, `builds${i}-`, patienceFor(draw, callSeconds)),
          )
        : seeds.map((seed, i) => () => this.#runMoved(draw, kind, seed, `${kind}${i}-`, callSeconds));
    const all: (readonly string[])[] = [];
    for (const run of runs) {
      const ran = await run();
      if (!('failure' in ran)) all.push(ran.files);
    }
    for (const [i, type] of this.#stock.function.results.entries()) {
      const [want, ...others] = await Promise.all(
        [draw.files, ...all].map(async (files) =>
          decodeElements(await readFile(files[i]!), type.elementType),
        ),
      );
      if (!want) continue;
      const scale = new Scale(want, type);
      const comparable = others.filter((one): one is Elements => one?.length === want.length);
      for (const [at, one] of comparable.entries())
        if (kind === 'steps') draw.honest[i]!.push(shareOf(scale.between(want, one), STEPS_SHARE));
        else
          for (const before of [want, ...comparable.slice(0, at)])
            draw.honest[i]!.push(scale.between(before, one));
    }
    await removeAll(all.flat());
    return true;
  }

  /** Runs stock on a draw whose inputs and parameters are moved in their last bits, or whose inputs are moved by few steps. */
  async #runMoved(
    draw: Draw,
    kind: 'moved' | 'steps',
    seed: number,
    prefix: string,
    callSeconds: number,
  ): Promise<Results | Failure> {
    const own = await mkdtemp(join(await this.#ownFolder(), `${kind}-`));
    const isStep = kind === 'steps';
    const { stock, movedFlags } = this.#stock;
    const inputs = movedInputs(draw.call.inputs, own, seed, isStep);
    const flags = isStep ? draw.call.flags : (movedFlags?.(own, seed) ?? draw.call.flags);
    const ran = await this.run(stock, { inputs, flags }, prefix, patienceFor(draw, callSeconds));
    // Moved copies of inputs and parameters can take gigabytes.
    await rm(own, { recursive: true, force: true });
    return ran;
  }

  /** Whether a result is of 8 bits, as floats. */
  async isQuantized({ files }: Draw): Promise<boolean> {
    for (const [i, { elementType }] of this.#stock.function.results.entries()) {
      const elements = isFloat(elementType) ? decodeElements(await readFile(files[i]!), elementType) : null;
      if (elements !== null && isQuantized(elements)) return true;
    }
    return false;
  }

  /** Calls the function once. The files of the results begin with `prefix`. */
  async run(module: string, call: Call, prefix: string, callSeconds: number): Promise<Results | Failure> {
    const path = join(await this.#ownFolder(), prefix);
    const ran = await runProgram(this.#stock, module, call, path, callSeconds);
    if (this.#stock.isSampled !== true || 'failure' in ran) return ran;
    // Stock runs first.
    this.#written ??= await Promise.all(
      this.#stock.function.results.map(async (type, i) => writtenRanges(await readFile(ran.files[i]!), type)),
    );
    for (const [i, file] of ran.files.entries()) await keepRanges(file, this.#written[i]!);
    return ran;
  }

  /** Null for inputs that are those of another draw. */
  #draw(
    name: string,
    inputsOf: () => readonly string[] | null,
    callSeconds: number,
  ): Promise<Draw | Failure | null> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const make = async () => {
      const inputs = inputsOf();
      if (inputs === null) return null;
      const call = { inputs, flags: this.#stock.flags ?? [] };
      const run = await this.run(this.#stock.stock, call, `stock-${name}-`, callSeconds);
      if ('failure' in run) return run;
      const draw = { ...run, call, honest: this.#stock.function.results.map(() => []), levels: 0 };
      this.#all.push(draw);
      return draw;
    };
    const made = make();
    this.#known.set(name, made);
    return made;
  }

  /** Null if the inputs would be the given ones. */
  #inputsOf(kind: Kind, inputs: readonly string[]): readonly string[] | null {
    if (kind === 'given') return inputs;
    const scaled = scaledInputs(inputs, kind === 'positive', this.#stock.given);
    return scaled.join() === inputs.join() ? null : scaled;
  }

  #ownFolder(): Promise<string> {
    return (this.#folder ??= mkdtemp(join(this.#stock.folder, 'results-')));
  }
}

/** Seed of further draws. Those of the functions of a program count from 0. */
const SEED = 1000;

export const removeAll = (files: readonly string[]) =>
  Promise.all(files.map((file) => rm(file, { force: true })));

/** Seconds for another call with a draw. If stock needs nearly all of the time, slightly slower is no failure. */
export const patienceFor = ({ seconds }: Draw, callSeconds: number): number =>
  Math.max(callSeconds, 3 * seconds);

/** Calls the function of a contest once. */
export async function runProgram(
  { function: { name, results }, device, tools, signal }: StockContest,
  module: string,
  { inputs, flags }: Call,
  prefix: string,
  callSeconds: number,
): Promise<Results | Failure> {
  const outputs = results.map((_, i) => `${prefix}${i}.bin`);
  const tool = { ...tools, device, signal: signal ?? new AbortController().signal };
  const started = performance.now();
  const result = await callFunction(tool, [module], { name, inputs, flags, outputs }, callSeconds);
  if (result.ok) return { files: outputs, seconds: (performance.now() - started) / 1000 };
  const [message = ''] = result.stderr.trim().split('\n');
  return { failure: message === '' || result.timedOut ? result.ending : `${result.ending}: ${message}` };
}

/** Describes a result with elements that are not finite, NaN first: NaN would hide every error. Null if all elements are finite. */
async function badResult(
  { function: { results } }: StockContest,
  { files }: Results,
): Promise<{ readonly reason: string; readonly isNaN: boolean } | null> {
  let found: Awaited<ReturnType<typeof badResult>> = null;
  for (const [i, { elementType }] of results.entries()) {
    if (!isFloat(elementType)) continue;
    const elements = decodeElements(await readFile(files[i]!), elementType) ?? [];
    let [count, infinite] = [0, 0];
    for (let at = 0; at < elements.length; at++) {
      const value = Number(elements[at]);
      if (Number.isNaN(value)) count++;
      else if (!Number.isFinite(value)) infinite++;
    }
    const reason = `result ${i} is NaN in ${count} of ${elements.length} elements on these inputs`;
    if (count > 0) return { reason, isNaN: true };
    if (infinite > 0) found ??= { reason, isNaN: false };
  }
  return found;
}
