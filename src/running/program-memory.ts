// Verdicts on whole programs: a configuration that is faster alone can be slower together with others.
import { configurationText, isConfiguration, needsOf } from '../backend/index.ts';
import { isDefault, type Configuration, type OwnConfiguration } from '../backend/configuration.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import { mayPreprocess, type InjectRoute } from '../settings/settings.ts';
import type { Undecided } from '../store/store.ts';
import { hasFields, isNumber, isText, listOf, optional, orNull } from '../system/data.ts';
import { programNotes } from './program-notes.ts';
import { because, isCode, type Reason, type ReasonCode } from '../system/reason.ts';

/** A configuration that makes a program slower or wrong. */
export interface LeftOut {
  readonly workload: string;
  /** Text of the configuration, as in the database. */
  readonly configuration: string;
  readonly reason: string;
}

export interface ProgramMemory {
  readonly leftOut: readonly LeftOut[];
  /** The set with correct results and no loss of speed, see `injectedSet`; null for none. */
  readonly verified: string | null;
  /** The configurations that were tried on all operations at once; null for none. */
  readonly programWide: TriedProgramWide | null;
  /** A set without a verdict, with the reason; null for none. */
  readonly open: (Omit<Undecided, 'workload'> & { readonly set: string; readonly code?: ReasonCode }) | null;
}

export interface TriedProgramWide {
  /** Workloads with their offered configurations, see `offersOf`. */
  readonly offers: readonly string[];
  /** The configurations that the program is faster with: those of offers, and those whose own gain is not certain. */
  readonly chosen: readonly { readonly workload: string; readonly configuration: OwnConfiguration }[];
  /** Reason for users. */
  readonly reason: string;
  /** The budget if it was too small for a result; null with a result. */
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
        ...{ set: isText, reason: isText, code: optional(isCode) },
        ...{ lastTriedAt: isText, budgetSeconds: isNumber, attempts: isNumber },
      }),
    ),
  }),
);

/** Key of the injected configurations and their route. Two programs with the same key are the same. */
export function injectedSet(decisions: readonly Decision[], route: string): string {
  const pairs = decisions
    .filter(isInjected)
    .map(({ tunable, configuration }) => `${tunable.key} ${configurationText(configuration)}`);
  return JSON.stringify([route, ...new Set(pairs.sort())]);
}

export const offersOf = (configurations: ProgramWide): string[] =>
  [...configurations].map(([key, one]) => `${key} ${configurationText(one)}`);

/**
 * Decisions by the verdict on the program: without the configurations that make it slower or wrong, and with the configurations that are
 * faster on all operations at once, if the settings allow their route.
 * @param marked marked configurations of misses, by key; a program that left one out keeps its workload at the default
 */
export function inProgram(
  decisions: readonly Decision[],
  program: Pick<ProgramMemory, 'leftOut' | 'programWide'> | null,
  marked: ReadonlyMap<string, Configuration>,
  inject: InjectRoute,
): readonly Decision[] {
  if (program === null) return decisions;
  const kept = leaveOut(decisions, (key, configuration) =>
    whyLeftOut(program, key, configuration ?? marked.get(key)),
  );
  if (program.programWide === null) return kept;
  const { chosen, reason } = program.programWide;
  // A record is newer than an uncertain gain.
  const recorded = new Set(kept.filter(isInjected).map(({ tunable }) => tunable.key));
  const known = chosen.filter(({ workload, configuration }) =>
    needsOf(configuration) === null ? !recorded.has(workload) : mayPreprocess(inject),
  );
  return withProgramWide(kept, new Map(known.map((one) => [one.workload, one.configuration])), reason);
}

/** @param text undefined for a configuration that is not left out */
export const worse = (text: string | undefined): Reason | null =>
  text === undefined ? null : because('worse-in-program', text);

/** Why a program leaves out a workload's configuration; null if it does not. */
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
