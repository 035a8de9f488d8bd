// Verifies a whole program, stock against tuned: equal results, and no loss of speed.
import { isBytecode } from 'mlir-parser-ts';
import type { Command } from '../compiler/command.ts';
import { needsOf } from '../backend/index.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { reasonOf, withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import { assess, gainOver, judgementWith, LEAST_ADVANTAGE, ratioOf } from '../program/assess.ts';
import type { Judgement } from '../program/judge.ts';
import { timeBudget } from '../program/time-budget.ts';
import { programRuns, type Uncompiled } from '../program/runs.ts';
import { isComparedWith, isEitherFaster } from '../program/answered.ts';
import type { ComparedWorkload } from '../program/slower.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { callableOf, contestsOf, measuringTools, NotVerifiedError } from './callable.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { planCompile } from '../plan/route.ts';
import type { Limits } from './limits.ts';
import { programBuilds } from './program-builds.ts';
import { NO_REASON, because, cacheUnwritable } from '../system/reason.ts';

/** The judgement on a program, and the verdict that users see. */
export interface Verification {
  readonly judgement: Judgement;
  readonly verdict: ProgramVerdict;
  /** Times of the workloads' dispatches. */
  readonly workloads: readonly ComparedWorkload[];
  /** Result of the offer to all operations at once. */
  readonly programWide: {
    /** Workloads that are faster with the offer than with their own configuration. */
    readonly chosen: ProgramWide;
    /** Reason for users. */
    readonly reason: string;
    /** Whether the time was too short to try the offer. */
    readonly isOpen: boolean;
  };
}

/** The result without an offer, or without a run. */
export const NOTHING_CHOSEN: Verification['programWide'] = {
  chosen: new Map(),
  reason: '',
  isOpen: false,
};

/**
 * Compiles a program with and without its decisions, and runs both. Finds the configurations to leave out, and whether the offer to all
 * operations at once is faster. The caller holds the measuring lock.
 * @param offer replaces the decisions about its operations; may be empty
 * @param kept modules of this build
 * @param signal ends every process
 * @throws NotVerifiedError when one of both programs does not compile in the time, or the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function verifyTuned(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  offer: ProgramWide,
  surroundings: Surroundings,
  kept: KeptModules,
  limits: Limits,
  signal: AbortSignal,
): Promise<Verification> {
  const folder = kept.folder(surroundings);
  if (folder === null) throw new NotVerifiedError(cacheUnwritable(surroundings.cacheDirectory));
  const tools = measuringTools(command, surroundings);
  const budget = timeBudget(limits.compileSeconds);
  const means = { kept, folder, budget, mostSeconds: limits.compileSeconds / 2 };
  const builds = programBuilds(command, inspected, decisions, surroundings, means);
  const all = withProgramWide(decisions, offer, '');
  const wideBuilds = programBuilds(command, inspected, all, surroundings, means, 'all-tuned.vmfb');
  const compileStock = async () => {
    const stock = await kept.compiledStock(builds.stock, folder);
    if (typeof stock !== 'string') throw doesNotCompile('the program', stock);
    return stock;
  };
  const { bytes } = inspected.input;
  const callable = await callableOf(command, inspected, surroundings, compileStock, limits.inputBytes);
  const { functions, called, skipped } = callable;
  const injection = planCompile(decisions, inspected, command, surroundings);
  const keys = keysOf(decisions);
  const isInjecting = injection.route !== 'none';
  if ((isInjecting || offer.size > 0) && called.length === 0) {
    const why = because(
      'nothing-callable',
      functions === 0 ? 'no public function was found in it' : undefined,
    );
    return {
      verdict: { ...notVerified(why), skipped, injected: isInjecting },
      judgement: { kept: keys, leftOut: [], open: isInjecting ? why : null },
      workloads: [],
      programWide: NOTHING_CHOSEN,
    };
  }
  const stock = await compileStock();
  if (injection.route === 'none' && offer.size === 0) {
    const { code, reason } = injection;
    const verdict = { functions: [], skipped, leftOut: [], injected: false, code, reason };
    const judgement = { kept: keys, leftOut: [], open: null };
    return { verdict, judgement, workloads: [], programWide: NOTHING_CHOSEN };
  }
  if (isInjecting) {
    // Both at once, because a compiler seldom uses more than one core.
    const [whole] = await Promise.all([
      builds.tuned(keys),
      offer.size > 0 ? wideBuilds.tuned(keysOf(all)) : null,
    ]);
    // A configuration may need too many resources in a fused dispatch. The search below finds it.
    if ('problem' in whole && whole.isLate) throw doesNotCompile('the tuned program', whole);
  }

  const roundsTo = roundedTypes([...keys, ...offer.keys()], bytes);
  const shared = { stock, tools, folder, signal, device: inspected.site.device, roundsTo };
  const contests = await contestsOf(callable, shared);
  // The program with the offer takes as much time again.
  const runSeconds = limits.runSeconds / (isInjecting && offer.size > 0 ? 2 : 1);
  const suspects = keysOf(decisions.filter(changesProgram));
  const own = await assess(
    isInjecting ? keys : [],
    // With one configuration no dispatch can be slower while the program is faster.
    programRuns(contests, builds.tuned, runSeconds, keys.length === 1 ? isEitherFaster : undefined),
    suspects,
  );
  let programWide = NOTHING_CHOSEN;
  if (offer.size > 0) {
    const wideKeys = keysOf(all);
    const isAnswered = wideKeys.length === 1 ? isComparedWith(LEAST_ADVANTAGE * ratioOf(own)) : undefined;
    const wide = await assess(wideKeys, programRuns(contests, wideBuilds.tuned, runSeconds, isAnswered));
    const gain = gainOver(wide, own);
    const { kept, open } = wide.judgement;
    if (gain !== null) {
      const chosen = new Map([...offer].filter(([key]) => kept.includes(key)));
      const reason = reasonOf(chosen, gain);
      const judgement = judgementWith(offer, wide.judgement, own.judgement);
      return {
        verdict: {
          functions: wide.functions,
          skipped,
          leftOut: told(judgement),
          injected: true,
          ...NO_REASON,
        },
        judgement,
        workloads: wide.workloads,
        programWide: { chosen, reason, isOpen: false },
      };
    }
    programWide = { ...NOTHING_CHOSEN, isOpen: open !== null };
  }
  const { judgement } = own;
  const { open } = judgement;
  const why =
    injection.route === 'none'
      ? { code: injection.code, reason: injection.reason }
      : because('worse-in-program', 'it is worse with each of its configurations');
  const found = { functions: own.functions, skipped, leftOut: told(judgement) };
  const verdict: ProgramVerdict =
    judgement.kept.length === 0
      ? { ...found, injected: false, ...why }
      : { ...found, injected: true, ...(open ?? NO_REASON) };
  return { verdict, judgement, workloads: own.workloads, programWide };
}

const told = ({ leftOut }: Judgement) =>
  leftOut.map(({ key, reason }) => ({ workload: key, ...because('worse-in-program', reason) }));

/** Whether a configuration changes more of the program than the dispatch of its operation. */
const changesProgram = ({ configuration }: Decision): boolean => needsOf(configuration) !== null;

const keysOf = (decisions: readonly Decision[]): string[] => [
  ...new Set(decisions.filter(isInjected).map(({ tunable }) => tunable.key)),
];

export const doesNotCompile = (what: string, { problem, isLate }: Uncompiled) =>
  new NotVerifiedError(because('compile-failed', `${what} does not compile: ${problem}`), isLate);

/** Narrow float types in the workloads and in the text of a program. */
export function roundedTypes(keys: readonly string[], input: Uint8Array): string[] {
  const text = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const isUsed = (type: string) =>
    keys.some((key) => key.includes(type)) || (!isBytecode(input) && text.includes(type));
  return ['f16', 'bf16'].filter(isUsed);
}
