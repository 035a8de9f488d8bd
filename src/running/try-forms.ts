// Finds the forms in which a program is fastest: first all preferred forms, then without the forms that are slower than the written
// operations.
import { isDispatchOf, isTunable } from '../input/operation.ts';
import { rewritableKey } from '../form/rewritable.ts';
import type { FormChoice } from '../form/choose.ts';
import { slowerForms } from '../form/slower.ts';
import { wrongForms, wrongTogether } from './check-forms.ts';
import type { Uncompiled } from '../program/runs.ts';
import { LEAST_RATIO } from '../program/slower.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { terminalOf } from '../report/terminal.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { NotVerifiedError } from './callable.ts';
import { interruptible } from './interruptible.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { limitsWithin } from './limits.ts';
import { compileForms, proveForms, unproven, type FormsProof } from './prove-forms.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { rewritten, surveyed } from '../plan/rewritten.ts';
import { because, type Reason } from '../system/reason.ts';

/** The result of comparing forms. */
export interface TriedForms extends FormsProof {
  /** Null if the compiler does not reach code generation. */
  readonly program: FormedProgram | null;
  readonly choices: readonly FormChoice[];
  /** Seconds of compiling the program as written and in its preferred forms. */
  readonly compileSeconds: number;
  /** Reasons by the keys of the operations whose form does not compile or is wrong. */
  readonly wrong: ReadonlyMap<string, Reason>;
}

const NONE: ReadonlyMap<string, Reason> = new Map();

/** Other variants are compiled only if the first compile, or all before, took at most this share of the budget. */
const SECOND_SHARE = 0.5;

/** Tries with fewer forms after failures. */
const MOST_FAILURES = 3;

/** Compiles variants during their survey, then runs them. The caller holds the measuring lock. */
export async function tryForms(
  preferred: readonly FormChoice[],
  { command: written, inspected }: FormedProgram,
  surroundings: Surroundings,
  kept: KeptModules,
): Promise<TriedForms> {
  const { budgetSeconds } = surroundings.settings;
  const limits = limitsWithin(budgetSeconds, true);
  const terminal = terminalOf(null);
  terminal.tryForms();

  /** Keys of operations whose form is right. */
  const right = new Set<string>();
  const tryThese = async (choices: readonly FormChoice[], signal: AbortSignal): Promise<TriedForms> => {
    const command = await rewritten(written, choices, surroundings);
    const measured = { command, inspected, surroundings, kept, limits, signal };
    let tried: Omit<TriedForms, keyof FormsProof> = {
      choices,
      program: null,
      compileSeconds: 0,
      wrong: NONE,
    };
    try {
      const unchecked = choices.filter(({ operation }) => !right.has(rewritableKey(operation)));
      const underWay = compileForms(measured, written);
      // The split and the written program keep both cores busy. The check runs beside the compile that follows them.
      const checked = underWay.configured.then(() => wrongTogether(measured, unchecked));
      checked.catch(() => undefined);
      const means = { configured: () => underWay.configured, hasTurn: true };
      const [program, compiled] = await Promise.all([
        surveyed(command, inspected, surroundings, means),
        underWay.compiled,
      ]);
      tried = { ...tried, program, compileSeconds: compiled.seconds };
      const { formed } = compiled;
      // Another check would use the same folder.
      const wrongAlone = await checked;
      const wrong =
        typeof formed === 'string'
          ? (wrongAlone ?? (await wrongForms(measured, unchecked)))
          : formed.isLate
            ? NONE
            : (blamedForms(formed, choices) ?? (await wrongForms(measured, choices)));
      if (typeof formed === 'string')
        for (const { operation } of unchecked)
          if (!wrong.has(rewritableKey(operation))) right.add(rewritableKey(operation));
      const [reason] = wrong.values();
      if (reason !== undefined) {
        const isAll = choices.every(({ operation }) => wrong.has(rewritableKey(operation)));
        return { ...tried, wrong, ...unproven(reason, isAll) };
      }
      if (program === null) return { ...tried, ...unproven(because('not-compiled')) };
      return { ...tried, ...(await proveForms({ ...measured, ...program }, written, compiled)) };
    } catch (error) {
      if (!(error instanceof NotVerifiedError)) throw error;
      return { ...tried, ...unproven(error.why) };
    }
  };

  const work = async (signal: AbortSignal): Promise<TriedForms> => {
    const begun = performance.now();
    let first = await tryThese(preferred, signal);
    const { compileSeconds } = first;
    const without = (keys: ReadonlySet<string>): readonly FormChoice[] =>
      first.choices.filter(({ operation }) => !keys.has(rewritableKey(operation)));
    /** Tries some of the forms; null if these are none or all, or if that would take too long. */
    const tryOnly = async (
      some: readonly FormChoice[],
      seconds: number,
      share = SECOND_SHARE,
    ): Promise<TriedForms | null> => {
      const isPart = some.length > 0 && some.length < first.choices.length;
      if (!isPart || seconds > share * budgetSeconds) return null;
      kept.forgetStock();
      return { ...(await tryThese(some, signal)), compileSeconds };
    };
    // A form that fails costs its own operation only. It may hide another failure.
    for (let turn = 0; turn < MOST_FAILURES && first.wrong.size > 0; turn++) {
      const next = await tryOnly(without(new Set(first.wrong.keys())), compileSeconds);
      if (next === null) return first;
      first = next;
    }
    // Forms that are right alone can be wrong together. Half of them mostly gain more than all other tuning.
    const parts = isWrong(first) ? halvesOf(first.choices) : [];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const next = await tryOnly(part, (performance.now() - begun) / 1000, 1);
      if (next === null) return first;
      if (!isWrong(next)) {
        first = next;
        break;
      }
      parts.push(...halvesOf(part));
    }
    // A program that is slower in its forms is not tuned in them.
    const isBetter = leastRatio(first.verdict) >= LEAST_RATIO;
    // Rounds gain more than the forms of few operations.
    const second = await tryOnly(without(slowerIn(first, isBetter)), (performance.now() - begun) / 1000);
    if (second === null) return first;
    if (leastRatio(second.verdict) > leastRatio(first.verdict)) return second;
    // The next untuned module is that of the first program.
    kept.forgetStock();
    return first;
  };
  const tried = await interruptible(terminal, work, () => {
    kept.discard();
  });
  terminal.endForms(tried.verdict);
  return tried;
}

const isWrong = ({ verdict, wrong }: TriedForms): boolean =>
  wrong.size === 0 && verdict.functions.some(({ equal }) => equal === false);

/** Both halves; none of a single form. */
const halvesOf = (choices: readonly FormChoice[]): (readonly FormChoice[])[] => {
  const middle = Math.ceil(choices.length / 2);
  return choices.length > 1 ? [choices.slice(0, middle), choices.slice(middle)] : [];
};

/** The forms that the compiler's errors point at, with the reason; null for none. Their locations begin with the key of the operation. */
function blamedForms(
  { problem, messages = problem }: Uncompiled,
  choices: readonly FormChoice[],
): ReadonlyMap<string, Reason> | null {
  const errors = messages.split('\n').filter((line) => line.includes(' error: '));
  const keys = choices
    .map(({ operation }) => rewritableKey(operation))
    .filter((key) => errors.some((error) => error.startsWith(`${key} as `)));
  return keys.length === 0 ? null : new Map(keys.map((key) => [key, because('compile-failed', problem)]));
}

/** Keys of operations whose form is slower than the written operation. @param isTuned whether the forms are tuned later */
function slowerIn({ choices, program, written, formed }: TriedForms, isTuned: boolean): ReadonlySet<string> {
  const operations = program?.inspected.input.operations.filter(isTunable) ?? [];
  // The locations of rewritten operations contain the key of the written operation.
  const isOf = (key: string, dispatch: string) =>
    operations.some(
      (one) => one.place.location?.startsWith(`${key} as `) === true && isDispatchOf(one, dispatch),
    );
  return slowerForms(choices, written, formed, isOf, isTuned);
}

/** The smallest ratio of all functions; 0 if a function was not timed or has wrong results. */
const leastRatio = ({ functions }: ProgramVerdict): number =>
  Math.min(...functions.map(({ equal, timing }) => (equal === true ? (timing?.ratio ?? 0) : 0)), Infinity);
