// Forms of a program: convolutions are rewritten before the compiler optimises them. A program in other forms ships only if a run has shown
// that its results are right and that it is faster than stock.
import { formatRatio } from '../system/format.ts';
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
import { mayHaveForms, withSurvey } from './inspect.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { MOST_ATTEMPTS, whyNotRun } from '../running/limits.ts';
import { programNotes, programOf } from '../running/program-notes.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { rewritten, surveyed } from '../plan/rewritten.ts';
import type { TriedForms } from '../running/try-forms.ts';
import { because } from '../system/reason.ts';

/** The verdict on a program in other forms. */
interface FormsMemory {
  /** `open` without a result. */
  readonly verdict: 'better' | 'worse' | 'open';
  readonly reason: string;
  /** Keys of operations that are faster as written; the others have their preferred form. */
  readonly asWritten?: readonly string[];
  /** Budget of the last build that tried the forms. */
  readonly budgetSeconds: number;
  readonly attempts: number;
}

const formsMemory = programNotes(
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

/** A program, surveyed, in these forms; null if this version or the compiler does not know one of them. */
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

/** A program to compile: in other forms if these are faster. */
export interface BetterForms {
  readonly program: FormedProgram;
  /** Its forms; empty if it is as written. */
  readonly choices: readonly FormChoice[];
  /** Result of the run; null if nothing ran. */
  readonly verdict: ProgramVerdict | null;
  /** Null if the program has no other forms; `forms-unknown` without a verdict. */
  readonly forms: ExplainedForms | null;
  /** Whether the next build tries the forms. */
  readonly isOpen: boolean;
}

const NO_FORMS = { choices: [], verdict: null, forms: null, isOpen: false };

/**
 * A program in the preferred form of each convolution, if it is faster in these forms. If there is no verdict yet, the program runs in both.
 * The user's own pipeline excludes other forms.
 * @param kept receives the compiled modules; null if nothing may be measured
 */
export async function inBetterForms(
  written: FormedProgram,
  store: Store | null,
  surroundings: Surroundings,
  kept: KeptModules | null = null,
): Promise<BetterForms> {
  const { settings } = surroundings;
  const { command, inspected } = written;
  const { rewritables, reading, surveyed: isSurveyed, operations } = inspected.input;
  const preferred = mayHaveForms(reading, settings) ? chooseForms(rewritables) : [];
  const asWritten = async (more: Partial<BetterForms>, hasTurn = false): Promise<BetterForms> => ({
    ...{ ...NO_FORMS, ...more },
    // `inspect` stops once it knows the rewritable operations. The others are still unknown then.
    program: isSurveyed || operations.length > 0 ? written : await withSurvey(written, surroundings, hasTurn),
  });
  if (preferred.length === 0) return asWritten({});
  const formed = await rewritten(command, preferred, surroundings);
  const identity = await programOf(formed, inspected, store, surroundings);
  const recall = () => formsMemory.recall(store, identity);
  const memory = recall();
  const chosen = (known: FormsMemory | null) =>
    preferred.filter(({ operation }) => known?.asWritten?.includes(rewritableKey(operation)) !== true);
  const explained = (known: FormsMemory | null): ExplainedForms => ({
    used: known?.verdict === 'better',
    ...because(CODES[known?.verdict ?? 'open'], known?.reason),
    operations: chosen(known).map(({ operation, form }) => ({ operation: rewritableKey(operation), form })),
  });
  const inForms = async (better: FormsMemory): Promise<BetterForms> => {
    const choices = chosen(better);
    const formed = await rewritten(command, choices, surroundings);
    const program = await surveyed(formed, inspected, surroundings);
    const forms = explained(better);
    return program === null ? asWritten({ forms }) : { ...NO_FORMS, program, choices, forms };
  };
  if (memory?.verdict === 'better') return inForms(memory);
  const forms = explained(memory);
  if (kept === null || store === null || !isWorthTrying(memory, inspected.input, settings.budgetSeconds))
    return asWritten({ forms });
  const isStillOpen = () => recall()?.verdict !== 'better';
  const measuring = { ...surroundings, device: inspected.site.device };
  const patience = Math.min(PATIENCE_SECONDS, settings.budgetSeconds);
  // Without a lock the program ships as written.
  using turn = await takeTurn(measuring, patience, isStillOpen).catch(() => null);
  const found = recall();
  if (found?.verdict === 'better') return await inForms(found);
  if (turn === null) return await asWritten({ forms, isOpen: true });
  // Not loaded on a hit.
  const { tryForms } = await import('../running/try-forms.ts');
  const tried = await tryForms(preferred, written, surroundings, kept);
  const now = verdictOn(tried, preferred, settings.budgetSeconds, memory);
  formsMemory.remember(store, identity, now);
  const isOpen = now.verdict === 'open';
  const { verdict, program, choices } = tried;
  const told = { verdict, forms: explained(now), isOpen };
  if (now.verdict === 'better' && program !== null) return { program, choices, ...told };
  // The modules in forms are of no use for the written program.
  kept.discard();
  return await asWritten(told, true);
}

/** The verdict of a run. */
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
  // A build with more time tries fewer of them.
  if (wrong !== undefined)
    return known(choices.length > 1 ? 'open' : 'worse', wrong.reason ?? 'its results are different');
  const timings = functions.flatMap(({ equal, timing }) =>
    equal === true && timing !== null ? [timing] : [],
  );
  if (timings.length === 0 || timings.length < functions.length) return known('open', unknown);
  const least = Math.min(...timings.map(({ ratio }) => ratio));
  return least >= LEAST_RATIO
    ? known('better', `${formatRatio(least)} as fast as it is written`)
    : known('worse', `it takes ${formatRatio(1 / least)} as long as it is written`);
}
