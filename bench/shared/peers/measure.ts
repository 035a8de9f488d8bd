// Measures one model: the peers, stock, stock's best flags, and tuned.
import { readFileSync } from 'node:fs';
import { programSignature, type ProgramFunction } from '../../../src/input/signature.ts';
import { buildVariants, DEFAULT, type Variant as Built } from '../../../src/running/comparison/build.ts';
import {
  fastest,
  moduleTimer,
  timeAll,
  timeBuilds,
  type Extent,
  type Timed,
  type Timer,
} from '../../../src/running/comparison/rounds.ts';
import { comparisonOf, type ModuleComparison } from '../../../src/measure/compare-modules.ts';
import { undisturbed } from '../../../src/measure/statistics.ts';
import { compareProgram } from '../../../src/program/results.ts';
import type { Verdict } from '../../../src/program/verify.ts';
import { messageOf } from '../../../src/system/tell.ts';
import type { Explanation } from '../../../src/report/explain.ts';
import { BenchError } from '../arguments.ts';
import { compileBoth, compileStock, type Compiled, type State, type Tools } from '../stock-and-tuned.ts';
import { HOST_FLAGS } from '../workplace.ts';
import { accuracyOf, type Accuracy } from './accuracy.ts';
import { nearnessOf, type Nearness } from './outputs.ts';
import type { Peer, Peers, Prepared } from './peer.ts';

type PeerName = keyof Peers;
type Module = 'stock' | 'best' | 'tuned';
type Contestant = PeerName | Module;

/** A build of stock. Its `error` is that of the compiler, or that of a run. */
export interface Variant extends Built {
  /** Seconds of one call in the choice; null if it was not timed. */
  readonly callSeconds: number | null;
}

/** Measurements of one model; null or left out for missing ones. */
export interface Result {
  readonly model: string;
  readonly state: State | 'not prepared' | 'not measured';
  /** Why a measurement is missing, or the first difference of results. */
  readonly reason: string | null;
  /** Verdict on the results of tuned against those of stock. */
  readonly verdict: Verdict | null;
  readonly sameCode: boolean;
  /** Wall time of each compile; that of tuned includes tuning. */
  readonly compileSeconds: Compiled['seconds'] | null;
  readonly explanation: Explanation | null;
  /** Builds of stock, the default first. */
  readonly variants: readonly Variant[];
  /** Name of the fastest variant. */
  readonly best: string | null;
  /** Undisturbed seconds of one call. */
  readonly seconds: Partial<Readonly<Record<Contestant, number>>>;
  /** Tuned against each other contestant; above 1, tuned is faster. */
  readonly gains: Partial<Readonly<Record<Contestant, ModuleComparison>>>;
  /** Why a peer has no results. */
  readonly peerErrors: Partial<Readonly<Record<PeerName, string>>>;
  /** Of a network in 8 bits. */
  readonly accuracy: Accuracy | null;
  /** Results of each module against those of each peer. */
  readonly relativeErrors: readonly RelativeErrors[];
}

export interface RelativeErrors extends Nearness {
  readonly module: Module;
  readonly peer: PeerName;
}

export interface Setting {
  readonly peers: Peers;
  /** Most rounds of timing. */
  readonly rounds: number;
  /** Tools with an empty database in the folder, so that the order of models changes nothing. */
  toolsIn(folder: string): Tools;
}

/** About the time of all rounds of one model. */
const TIMING_SECONDS = 120;
/** Time limit of a process that calls a model once. */
const CALL_SECONDS = 60;

/**
 * Measures one model. A failure is a result.
 * @param prepare makes the model's files, and throws a BenchError when that fails
 */
export async function measure(
  model: string,
  prepare: () => Promise<Prepared>,
  folder: string,
  setting: Setting,
): Promise<Result> {
  const nothing: Result = {
    ...{ model, state: 'not prepared', reason: null },
    ...{ verdict: null, sameCode: false, variants: [], best: null, compileSeconds: null },
    ...{ seconds: {}, gains: {}, peerErrors: {}, accuracy: null, relativeErrors: [], explanation: null },
  };
  let prepared: Prepared;
  try {
    prepared = await prepare();
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return { ...nothing, reason: error.message };
  }
  const tools = setting.toolsIn(folder);
  // Compile everything first: a compile would disturb the timing.
  const own = { ...tools, settings: { ...tools.settings, ...prepared.settings } };
  const compiled = await compileBoth(prepared.program, folder, HOST_FLAGS, own);
  const { state, error: reason, sameCode, explanation, seconds: compileSeconds } = compiled;
  const base: Result = { ...nothing, state, reason, sameCode, explanation, compileSeconds };
  if (state === 'stock does not compile') return base;
  const compile = (flags: readonly string[], module: string) =>
    compileStock(prepared.program, module, [...HOST_FLAGS, ...flags], tools);
  const built = await buildVariants([], compile, folder);
  const variants = built.map((one) => ({ ...one, callSeconds: null }));
  try {
    return { ...base, variants, ...(await compare(prepared, compiled, built, tools, folder, setting)) };
  } catch (error) {
    return { ...base, variants, state: 'not measured', reason: messageOf(error) };
  }
}

/** From this time of a call on, one round is enough for the choice of the best flags. */
const LONG_SECONDS = 1;
/** About the time of the choice. */
const CHOICE_SECONDS = 60;

const choice = (callSeconds: number): Extent => ({
  rounds: callSeconds > LONG_SECONDS ? 1 : 3,
  seconds: CHOICE_SECONDS,
});

const withCallSeconds = ({ name, flags, module, seconds, error, rounds }: Timed<Built>): Variant => ({
  ...{ name, flags, module, seconds, error },
  callSeconds: rounds && undisturbed(rounds),
});

/** Compares results, then times. */
async function compare(
  prepared: Prepared,
  { state, stock, tuned, sameCode, seconds: { stock: seconds } }: Compiled,
  built: readonly Built[],
  tools: Tools,
  folder: string,
  { peers, rounds }: Setting,
): Promise<Partial<Result>> {
  const inputs = prepared.inputs.map((path) => `@${path}`);
  const called = calledIn(prepared);
  const run = { inputs, flags: prepared.flags, function: called, device: tools.device, tools, folder };
  let verdict: Verdict | null = null;
  if (state === 'compiled by both') {
    // Integers cannot be moved in their last bits, so only other builds show how far rounding moves such results.
    const honest = built.filter(({ error }) => error === null).map(({ module }) => module);
    const otherBuilds = () => Promise.resolve(honest);
    const compared = await compareProgram({ ...run, stock, tuned, otherBuilds }, CALL_SECONDS);
    const { equal, maxError, compared: words, reason } = compared;
    verdict = { equal, maxError, compared: words, reason, timing: null };
    if (compared.hasFailed) return { verdict, reason, ...(equal === null && { state: 'not measured' }) };
  }
  const standard = { name: DEFAULT, flags: [], module: stock, seconds, error: null };
  const chosen = await timeBuilds([standard, ...built], (module) => moduleTimer(run, module), choice);
  const best = fastest(chosen);
  if (best === undefined) throw new BenchError(chosen[0]!.error ?? 'no build can be timed');
  const modules = new Map<Module, string>([
    ['stock', stock],
    ['best', best.module],
  ]);
  if (verdict !== null) modules.set('tuned', sameCode ? stock : tuned);
  const { outputs, peerErrors } = await runPeers(peers, prepared, called.results.length, folder);

  const relativeErrors: RelativeErrors[] = [];
  // The same code runs, and is timed, once.
  const timers = new Map<string, Timer>();
  for (const path of new Set(modules.values())) {
    timers.set(path, moduleTimer(run, path));
    const nearness = await nearnessOf(run, path, [...outputs.values()], prepared.rowSize);
    for (const [module] of [...modules].filter(([, own]) => own === path))
      relativeErrors.push(...[...outputs.keys()].map((peer, i) => ({ module, peer, ...nearness[i]! })));
  }
  const { original } = prepared;
  const isComparable = original !== null && verdict !== null && outputs.has('onnxRuntime');
  const accuracy = isComparable
    ? await accuracyOf(prepared, original, run, { stock, tuned }, peers.onnxRuntime)
    : null;
  for (const name of outputs.keys()) timers.set(name, (effort) => peers[name].time(prepared, effort));
  const times = await timeAll(timers, { rounds, seconds: TIMING_SECONDS });
  const timed = new Map<Contestant, string>([
    ...modules,
    ...[...outputs.keys()].map((one) => [one, one] as const),
  ]);
  const secondsOf = (one: Contestant) => times.map((round) => round.get(timed.get(one)!)!);
  const gainOver = (one: Contestant) =>
    comparisonOf(secondsOf(one).map((other, i) => [other, secondsOf('tuned')[i]!]));
  const ofAll = <T>(valueOf: (one: Contestant) => T) =>
    Object.fromEntries([...timed.keys()].map((one) => [one, valueOf(one)]));
  return {
    ...{ variants: chosen.map(withCallSeconds), best: best.name, peerErrors, accuracy, relativeErrors },
    seconds: ofAll((one) => undisturbed(secondsOf(one))),
    ...(verdict !== null && { verdict, reason: verdict.reason, gains: ofAll(gainOver) }),
  };
}

/** Calls the model once in each peer. @returns paths of results, and messages of peers that failed */
async function runPeers(peers: Peers, model: Prepared, results: number, folder: string) {
  const outputs = new Map<PeerName, string[]>();
  const peerErrors: Partial<Record<PeerName, string>> = {};
  for (const [name, peer] of Object.entries(peers) as [PeerName, Peer][])
    try {
      outputs.set(name, await peer.run(model, results, folder));
    } catch (error) {
      peerErrors[name] = messageOf(error);
    }
  return { outputs, peerErrors };
}

/** The function to call: that of the name, or else `main`, or the only public one. @throws when there is no such function */
function calledIn({ program, function: asked }: Prepared): ProgramFunction {
  const all = programSignature(readFileSync(program), (type) => type);
  const only = asked === null && all.length === 1 ? all[0] : undefined;
  const found = all.find(({ name }) => name === (asked ?? 'main')) ?? only;
  if (found === undefined)
    throw new Error(`${program} has no function ${asked ?? 'main, and not one public function'}`);
  return found;
}
