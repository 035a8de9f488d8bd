// A program in other forms than it is written in: its convolutions are rewritten before the compiler optimises anything. It is compiled
// and measured like any other program, and ships only if a run has shown it to be right and faster than stock.
import { chooseForms, choicesOf, type FormChoice, type FormNames } from '../form/choose.ts';
import { rewritableKey } from '../form/rewritable.ts';
import type { Input } from '../input/input.ts';
import { LEAST_RATIO } from '../program/slower.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { ExplainedForms } from '../report/explain.ts';
import type { Store } from '../store/store.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { hasFields, isNumber, isText, listOf, optional } from '../system/data.ts';
import { PATIENCE_SECONDS, takeTurn } from '../site/turn.ts';
import { isMoreTime } from '../tuning/undecided.ts';
import { mayHaveForms } from './inspect.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { MOST_ATTEMPTS, whyNotRun } from '../running/limits.ts';
import { programNotes, programOf } from '../running/program-notes.ts';
import { withSurvey } from './resolve.ts';
import { rewritten, surveyed, type FormedProgram } from '../plan/rewritten.ts';
import type { TriedForms } from '../running/try-forms.ts';
import { because } from '../system/reason.ts';

/** The verdict on a program in other forms. */
export interface FormsMemory {
  /** `open` without a result. */
  readonly verdict: 'better' | 'worse' | 'open';
  readonly reason: string;
  /** Keys of operations that are faster as written; the others have their preferred form. */
  readonly asWritten?: readonly string[];
  /** The most that a build could spend on it. */
  readonly budgetSeconds: number;
  readonly attempts: number;
}

export const formsMemory = programNotes(
  'forms',
  hasFields<FormsMemory>({
    verdict: (value) => value === 'better' || value === 'worse' || value === 'open',
    ...{ reason: isText, asWritten: optional(listOf(isText)), budgetSeconds: isNumber, attempts: isNumber },
  }),
);

const CODES = { better: 'forms-better', worse: 'forms-worse', open: 'forms-unknown' } as const;

/** Whether a build with this budget should try the program in its forms. */
const isWorthTrying = (memory: FormsMemory | null, input: Input, budgetSeconds: number): boolean =>
  whyNotRun(input, budgetSeconds) === null &&
  (memory === null ||
    (memory.verdict === 'open' &&
      (memory.attempts < MOST_ATTEMPTS || isMoreTime(budgetSeconds, memory.budgetSeconds))));

/** A program, surveyed, in noted forms; null if this version or the compiler does not know one of them. */
export async function inNotedForms(
  written: FormedProgram,
  names: FormNames,
  surroundings: Surroundings,
): Promise<FormedProgram | null> {
  if (names.size === 0) return written;
  const choices = choicesOf(written.inspected.input.rewritables, names);
  if (choices.length < names.size) return null;
  return surveyed(await rewritten(written.command, choices, surroundings), written.inspected, surroundings);
}

/** The explanation of a program in locked forms. */
export const explainNoted = (names: FormNames): ExplainedForms => ({
  ...{ used: true, ...because('locked', 'locked') },
  operations: [...names].map(([operation, form]) => ({ operation, form })),
});

/** A program as it is to be compiled: in other forms where these are better. */
export interface BetterForms {
  readonly program: FormedProgram;
  /** Its forms; none where it is as it is written. */
  readonly choices: readonly FormChoice[];
  /** Whether it is known which is better. */
  readonly isKnown: boolean;
  /** Result of the run; null if nothing ran. */
  readonly verdict: ProgramVerdict | null;
  /** The part of the time that the compiler took for the program itself. */
  readonly compileSeconds: number;
  /** Null where the program has no other forms. */
  readonly forms: ExplainedForms | null;
  /** Whether the next build would try to find out whether they are better. */
  readonly isOpen: boolean;
}

/**
 * A program in the preferred form of each convolution, if it is known or found to be better in them. A pipeline of the user's own
 * excludes other forms.
 * @param mayMeasure never without a database
 * @param kept takes the compiled modules
 */
export async function inBetterForms(
  written: FormedProgram,
  store: Store | null,
  surroundings: Surroundings,
  kept: KeptModules,
  mayMeasure: boolean,
): Promise<BetterForms> {
  const { settings } = surroundings;
  const { inspected } = written;
  const { rewritables, reading } = inspected.input;
  const preferred = mayHaveForms(reading, settings) ? chooseForms(rewritables) : [];
  /** Where it was enough to know the convolutions, the operations are still to be found. */
  const isComplete = inspected.input.surveyed || inspected.input.operations.length > 0;
  const surveyedAsWritten = (hasTurn: boolean) =>
    isComplete ? inspected : withSurvey(inspected, written.command, surroundings, hasTurn);
  const asWritten = async (more: Partial<BetterForms>, hasTurn = false): Promise<BetterForms> => ({
    ...{ choices: [], isKnown: true, verdict: null, compileSeconds: 0, forms: null, isOpen: false },
    ...more,
    program: { ...written, inspected: await surveyedAsWritten(hasTurn) },
  });
  if (preferred.length === 0) return asWritten({});
  const identity = programOf(await rewritten(written.command, preferred, surroundings), inspected);
  const memory = formsMemory.recall(store, identity);
  const without = (left: readonly string[]) =>
    preferred.filter(({ operation }) => !left.includes(rewritableKey(operation)));
  const explained = (known: FormsMemory | null): ExplainedForms => ({
    used: known?.verdict === 'better',
    ...because(CODES[known?.verdict ?? 'open'], known?.reason),
    operations: without(known?.asWritten ?? []).map(({ operation, form }) => ({
      ...{ operation: rewritableKey(operation), form },
    })),
  });
  const inForms = async (better: FormsMemory): Promise<BetterForms> => {
    const choices = without(better.asWritten ?? []);
    const formed = await rewritten(written.command, choices, surroundings);
    const program = await surveyed(formed, inspected, surroundings);
    if (program === null) return asWritten({ isKnown: true, forms: explained(better) });
    const known = {
      isKnown: true,
      forms: explained(better),
      verdict: null,
      compileSeconds: 0,
      isOpen: false,
    };
    return { program, choices, ...known };
  };
  if (memory?.verdict === 'better') return inForms(memory);
  const known = { isKnown: memory !== null && memory.verdict !== 'open', forms: explained(memory) };
  if (!mayMeasure || store === null || !isWorthTrying(memory, inspected.input, settings.budgetSeconds))
    return asWritten(known);
  const recall = () => formsMemory.recall(store, identity);
  const isStillOpen = () => recall()?.verdict !== 'better';
  const turn = await takeTurn(surroundings, Math.min(PATIENCE_SECONDS, settings.budgetSeconds), isStillOpen);
  try {
    const found = recall();
    if (found?.verdict === 'better') return await inForms(found);
    if (turn === null) return await asWritten({ ...known, isOpen: true });
    // Nothing of this is loaded on a hit.
    const { tryForms } = await import('../running/try-forms.ts');
    const tried = await tryForms(preferred, written, surroundings, kept);
    const now = verdictOn(tried, preferred, settings.budgetSeconds, memory);
    formsMemory.remember(store, identity, now);
    const isOpen = now.verdict === 'open';
    const { verdict, compileSeconds, program, choices } = tried;
    const told = { verdict, compileSeconds, forms: explained(now), isOpen, isKnown: !isOpen };
    if (now.verdict === 'better' && program !== null) return { program, choices, ...told };
    // The next module that is compiled without configurations is another one.
    kept.discard();
    return await asWritten(told, true);
  } finally {
    turn?.release();
  }
}

/** The same by noted verdicts, without measuring. */
export const inKnownForms = (
  written: FormedProgram,
  store: Store | null,
  surroundings: Surroundings,
): Promise<BetterForms> => inBetterForms(written, store, surroundings, new KeptModules(), false);

/** The verdict of a run on the forms. */
function verdictOn(
  { verdict: { functions, reason: problem }, isRefused, choices }: TriedForms,
  preferred: readonly FormChoice[],
  budgetSeconds: number,
  before: FormsMemory | null,
): FormsMemory {
  const asWritten = preferred.filter((one) => !choices.includes(one));
  const known = (verdict: FormsMemory['verdict'], reason: string): FormsMemory => ({
    ...{ verdict, reason, budgetSeconds },
    asWritten: asWritten.map(({ operation }) => rewritableKey(operation)),
    attempts: 1 + (before?.attempts ?? 0),
  });
  const unknown = problem ?? 'there was no time to find out';
  if (isRefused) return known('worse', unknown);
  const wrong = functions.find(({ equal }) => equal === false);
  if (wrong !== undefined) return known('worse', wrong.reason ?? 'its results are different');
  const timings = functions.flatMap(({ equal, timing }) =>
    equal === true && timing !== null ? [timing] : [],
  );
  if (timings.length === 0 || timings.length < functions.length) return known('open', unknown);
  const least = Math.min(...timings.map(({ ratio }) => ratio));
  return least >= LEAST_RATIO
    ? known('better', `${least.toFixed(2)}x as fast as it is written`)
    : known('worse', `it takes ${(1 / least).toFixed(2)}x as long as it is written`);
}
