// Chooses the variants of a program's command: as written, or with copies of its functions for known sizes; then as it is, or in other forms.
// If there is no verdict yet, the program runs in both.
import type { FormNames } from '../../form/choose.ts';
import { surveyed, type FormedProgram } from '../../plan/inspected.ts';
import type { KeptModules } from '../../plan/kept-modules.ts';
import { withSurvey } from '../../input/operations.ts';
import type { ProgramVerdict } from '../../program/verdict.ts';
import type { ExplainedForms } from '../../report/explain.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { PATIENCE_SECONDS, takeTurn } from '../../site/turn.ts';
import type { Store } from '../../store/store.ts';
import { because } from '../../system/reason.ts';
import { whyNotRun } from '../limits.ts';
import { keysElsewhere, programOf } from '../program-notes.ts';
import { namedForms, preferredForms } from './forms.ts';
import { commandNotes, isWorthTrying, type CommandNote } from './memory.ts';
import type { CommandVariant } from './variant.ts';

const CODES = { better: 'forms-better', worse: 'forms-worse', open: 'forms-unknown' } as const;

/** A program, surveyed, in these forms; null if this version or the compiler does not know one of them. */
export async function inNotedForms(
  written: FormedProgram,
  names: FormNames,
  surroundings: Surroundings,
): Promise<FormedProgram | null> {
  if (names.size === 0) return written;
  const copies = await copiesOf(written, surroundings);
  const isCopy = (key: string) => copies?.parts.has(key) === true;
  const own = [...names.keys()].filter(isCopy);
  const sized =
    copies === null || own.length === 0
      ? written
      : await surveyed(await copies.commandWith(own), written.inspected, surroundings);
  const rest = new Map([...names].filter(([key]) => !isCopy(key)));
  if (sized === null || rest.size === 0) return sized;
  const variant = namedForms(sized, rest, surroundings);
  if (variant === null) return null;
  return surveyed(await variant.commandWith([...rest.keys()]), sized.inspected, surroundings);
}

/** The variant with copies of functions; null if the settings give no sizes, or no part. */
async function copiesOf(program: FormedProgram, surroundings: Surroundings): Promise<CommandVariant | null> {
  if (surroundings.settings.sizes.length === 0) return null;
  const { sizedVariant } = await import('./sized.ts');
  const variant = sizedVariant(program, surroundings);
  return variant.parts.size === 0 ? null : variant;
}

/** The explanation of a program in locked forms. */
export const explainNoted = (names: FormNames): ExplainedForms => ({
  ...{ used: true, ...because('locked', 'locked') },
  operations: explainedParts(names),
});

const explainedParts = (parts: FormNames): ExplainedForms['operations'] =>
  [...parts].map(([operation, form]) => ({ operation, form }));

/** A program to compile: in other forms if these are faster. */
export interface BetterForms {
  readonly program: FormedProgram;
  /** Its forms by operation; empty if it is as written. */
  readonly names: FormNames;
  /** Result of the run; null if nothing ran. */
  readonly verdict: ProgramVerdict | null;
  /** Seconds of compiling the program as written and in its preferred forms. */
  readonly compileSeconds: number;
  /** Null if the program has no other forms; `forms-unknown` without a verdict. */
  readonly forms: ExplainedForms | null;
  /** Whether the next build tries the forms. */
  readonly isOpen: boolean;
}

const AS_WRITTEN = { names: new Map(), verdict: null, compileSeconds: 0, forms: null, isOpen: false };

/**
 * A program in the preferred form of each operation, with copies of its functions for the user's sizes, each if it is faster so. The user's
 * own pipeline excludes both.
 * @param kept receives the compiled modules; null if nothing may be measured
 * @param mayCopy whether another input may be compiled in place of the user's
 */
export async function inBetterForms(
  written: FormedProgram,
  store: Store | null,
  surroundings: Surroundings,
  kept: KeptModules | null = null,
  mayCopy = true,
): Promise<BetterForms> {
  const choose = (variant: CommandVariant) => inVariant(written, variant, store, surroundings, kept);
  const copies = mayCopy ? await copiesOf(written, surroundings) : null;
  if (copies === null) return choose(preferredForms(written, surroundings));
  const { inPreferredForms } = await import('./sized.ts');
  const sized = await choose(await inPreferredForms(copies, written, surroundings));
  if (sized.names.size > 0) return sized;
  const formed = await choose(preferredForms(written, surroundings));
  const both = `copies of functions: ${sized.forms?.reason}; forms of operations: ${formed.forms?.reason}`;
  return {
    ...formed,
    verdict: formed.verdict ?? sized.verdict,
    compileSeconds: sized.compileSeconds + formed.compileSeconds,
    forms: formed.forms === null ? sized.forms : { ...formed.forms, reason: both },
    isOpen: sized.isOpen || formed.isOpen,
  };
}

/** A program with a variant of its command, if it is faster with it. */
async function inVariant(
  written: FormedProgram,
  variant: CommandVariant,
  store: Store | null,
  surroundings: Surroundings,
  kept: KeptModules | null,
): Promise<BetterForms> {
  const { inspected } = written;
  const { input, site } = inspected;
  const { budgetSeconds } = surroundings.settings;
  const asWritten = async (more: Partial<BetterForms> = {}, hasTurn = false): Promise<BetterForms> => ({
    ...{ ...AS_WRITTEN, ...more },
    // `inspect` stops once it knows the rewritable operations. The others are still unknown then.
    program:
      input.surveyed || input.operations.length > 0
        ? written
        : await withSurvey(written, surroundings, hasTurn),
  });
  if (variant.parts.size === 0) return asWritten();
  const whole = await variant.commandWith([...variant.parts.keys()]);
  const identity = await programOf(whole, inspected, store, surroundings);
  const elsewhere = keysElsewhere(identity, inspected, store, surroundings.settings, kept !== null);
  const recall = () => commandNotes.recall(store, identity, elsewhere);
  const namesIn = (note: CommandNote | null): FormNames =>
    new Map([...variant.parts].filter(([key]) => note?.asWritten?.includes(key) !== true));
  const explained = (note: CommandNote | null): ExplainedForms => ({
    used: note?.verdict === 'better',
    ...because(CODES[note?.verdict ?? 'open'], note?.reason),
    operations: explainedParts(namesIn(note)),
  });
  const inForms = async (better: CommandNote): Promise<BetterForms> => {
    const names = namesIn(better);
    const command = await variant.commandWith([...names.keys()]);
    const program = await surveyed(command, inspected, surroundings);
    const forms = explained(better);
    return program === null ? asWritten({ forms }) : { ...AS_WRITTEN, program, names, forms };
  };
  const note = recall();
  if (note?.verdict === 'better') return inForms(note);
  const forms = explained(note);
  const isDue = note === null || (note.verdict === 'open' && isWorthTrying(note, budgetSeconds));
  const mayRun = whyNotRun(input, budgetSeconds) === null;
  if (kept === null || store === null || !mayRun || !isDue) return asWritten({ forms });
  const isStillOpen = () => recall()?.verdict !== 'better';
  const measuring = { ...surroundings, device: site.device };
  const patience = Math.min(PATIENCE_SECONDS, budgetSeconds);
  // Without a lock the program ships as written.
  using turn = await takeTurn(measuring, patience, isStillOpen).catch(() => null);
  const found = recall();
  if (found?.verdict === 'better') return await inForms(found);
  if (turn === null) return await asWritten({ forms, isOpen: true });
  // Not loaded on a hit.
  const { noteOf, tryCommand } = await import('./try-command.ts');
  // Another variant may have left its module.
  kept.forgetStock();
  const tried = await tryCommand(variant, written, surroundings, kept);
  const now = noteOf(tried, variant, budgetSeconds, note);
  commandNotes.remember(store, identity, now);
  const { verdict, program, compileSeconds } = tried;
  const told = { verdict, compileSeconds, forms: explained(now), isOpen: now.verdict === 'open' };
  if (now.verdict === 'better' && program !== null) return { program, names: namesIn(now), ...told };
  // The modules in forms are of no use for the written program.
  kept.discard();
  return await asWritten(told, true);
}
