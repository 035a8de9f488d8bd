// Verdicts on whole programs: a configuration that wins alone can lose among the others.
import { configurationText, isConfiguration } from '../backend/index.ts';
import { isDefault, type Configuration, type OwnConfiguration } from '../backend/configuration.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import { mayPreprocess, type InjectRoute } from '../settings/settings.ts';
import type { Undecided } from '../store/store.ts';
import { hasFields, isNumber, isText, listOf, optional, orNull } from '../system/data.ts';
import { programNotes } from './program-notes.ts';
import { because, isCode, type Reason, type ReasonCode } from '../system/reason.ts';

/** A configuration that a program is worse with. */
export interface LeftOut {
  readonly workload: string;
  /** As the database has it. */
  readonly configuration: string;
  readonly reason: string;
}

export interface ProgramMemory {
  readonly leftOut: readonly LeftOut[];
  /** The set that is verified to be right and no slower, see `injectedSet`; null for none. */
  readonly verified: string | null;
  /** The configuration that was tried on all operations at once; null for none. */
  readonly programWide: TriedProgramWide | null;
  /** A set without a verdict, and why; null for none. */
  readonly open: (Omit<Undecided, 'workload'> & { readonly set: string; readonly code?: ReasonCode }) | null;
}

export interface TriedProgramWide {
  /** Of each, the workload and the configuration: see `offersOf`. */
  readonly offers: readonly string[];
  /** Workloads for which it beats their own configuration. */
  readonly chosen: readonly { readonly workload: string; readonly configuration: OwnConfiguration }[];
  /** Why it is. */
  readonly reason: string;
  /** Budget within which nothing could be found out; null where something was. */
  readonly budgetSeconds: number | null;
}

type Open = NonNullable<ProgramMemory['open']>;
type Chosen = TriedProgramWide['chosen'][number];

const isTuned = (value: unknown) => isConfiguration(value) && !isDefault(value);

export const programMemory = programNotes(
  'program',
  hasFields<ProgramMemory>({
    leftOut: listOf(hasFields<LeftOut>({ workload: isText, configuration: isText, reason: isText })),
    verified: orNull(isText),
    programWide: orNull(
      hasFields<TriedProgramWide>({
        ...{ offers: listOf(isText), reason: isText, budgetSeconds: orNull(isNumber) },
        chosen: listOf(hasFields<Chosen>({ workload: isText, configuration: isTuned })),
      }),
    ),
    open: orNull(
      hasFields<Open>({
        ...{
          set: isText,
          code: optional(isCode),
          reason: isText,
          lastTriedAt: isText,
          budgetSeconds: isNumber,
          attempts: isNumber,
        },
      }),
    ),
  }),
);

/** The injected configurations and their route, in no particular order: another set is another program. */
export function injectedSet(decisions: readonly Decision[], route: string): string {
  const pairs = decisions
    .filter(isInjected)
    .map(({ tunable, configuration }) => `${tunable.key} ${configurationText(configuration)}`);
  return JSON.stringify([route, ...new Set(pairs.sort())]);
}

export const offersOf = (configurations: ProgramWide): string[] =>
  [...configurations].map(([key, one]) => `${key} ${configurationText(one)}`);

/**
 * Decisions as this very program wants them: without what was found to make it worse, and with what is better for all of it,
 * where the route that brings that may be taken.
 * @param marked what misses had before it was marked, by key: nobody looks for another one here
 */
export function inProgram(
  decisions: readonly Decision[],
  program: Pick<ProgramMemory, 'leftOut' | 'programWide'> | null,
  marked: ReadonlyMap<string, Configuration>,
  inject: InjectRoute,
): readonly Decision[] {
  const kept = withoutWorse(decisions, program, marked);
  if (!program?.programWide || !mayPreprocess(inject)) return kept;
  const { chosen, reason } = program.programWide;
  const known = new Map(chosen.map(({ workload, configuration }) => [workload, configuration]));
  return withProgramWide(kept, known, reason);
}

/**
 * Configurations that were found to make this very program worse are left out of it.
 * @param marked what misses had before it was marked, by key: nobody looks for another one here
 */
function withoutWorse(
  decisions: readonly Decision[],
  program: Pick<ProgramMemory, 'leftOut'> | null,
  marked: ReadonlyMap<string, Configuration>,
): readonly Decision[] {
  if (program === null || program.leftOut.length === 0) return decisions;
  return leaveOut(decisions, (key, configuration) =>
    whyLeftOut(program, key, configuration ?? marked.get(key)),
  );
}

/** @param text undefined for a configuration that is not left out */
export const worse = (text: string | undefined): Reason | null =>
  text === undefined ? null : because('worse-in-program', text);

/** Why a workload is left to the default in a program; null when it is not. */
export function whyLeftOut(
  program: Pick<ProgramMemory, 'leftOut'> | null,
  key: string,
  configuration: Configuration | undefined,
): Reason | null {
  if (configuration === undefined) return null;
  const text = configurationText(configuration);
  const own = program?.leftOut.find((one) => one.workload === key && one.configuration === text);
  return worse(own?.reason);
}
