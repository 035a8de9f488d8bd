// The database's notes about variants of a program, and the decisions that follow from them: a configuration that is faster alone can be
// slower together with others.
import { configurationText, isConfiguration, needsOf } from '../../backend/index.ts';
import { isDefault, type Configuration, type OwnConfiguration } from '../../backend/configuration.ts';
import { isInjected, leaveOut, withConfigurations, type Decision } from '../../decision/decision.ts';
import type { FormedProgram } from '../../plan/inspected.ts';
import { mayPreprocess, type InjectRoute } from '../../settings/settings.ts';
import { hasVerdict } from '../../store/claim.ts';
import type { Undecided } from '../../store/store.ts';
import { hasFields, isNumber, isText, listOf, optional, orNull } from '../../system/data.ts';
import { because, isCode, type Reason, type ReasonCode } from '../../system/reason.ts';
import { isMoreTime } from '../../tuning/undecided.ts';
import { workloadRank } from '../../workload/workload.ts';
import { programNotes } from '../program-notes.ts';
import type { DecisionsVariant } from './variant.ts';

/** Number of builds that try a variant until one has a verdict. After that only a build with more time tries. */
const MOST_ATTEMPTS = 3;

/** Tries of a variant without a verdict. */
interface Tries {
  /** Absent if only a build with more time tries again. */
  readonly attempts?: number;
  /** Budget of the last one; null with a verdict. */
  readonly budgetSeconds: number | null;
}

/** Whether a build with this budget tries a variant that earlier builds have tried. */
export const isWorthTrying = ({ attempts = MOST_ATTEMPTS, budgetSeconds }: Tries, seconds: number): boolean =>
  budgetSeconds !== null && (attempts < MOST_ATTEMPTS || isMoreTime(seconds, budgetSeconds));

/** The verdict on a variant of the command, such as other forms. */
export interface CommandNote {
  /** `open` without a result. */
  readonly verdict: 'better' | 'worse' | 'open';
  readonly reason: string;
  /** Keys of the parts that are left out: these operations are faster as written. */
  readonly asWritten?: readonly string[];
  /** Budget of the last build that tried the variant. */
  readonly budgetSeconds: number;
  readonly attempts: number;
}

/** Notes by the identity of the program with the whole variant. */
export const commandNotes = programNotes(
  'forms',
  hasFields<CommandNote>({
    verdict: (value) => value === 'better' || value === 'worse' || value === 'open',
    ...{ reason: isText, asWritten: optional(listOf(isText)), budgetSeconds: isNumber, attempts: isNumber },
  }),
  (notes) => notes.find((note) => hasVerdict({ kind: 'forms', note })) ?? notes[0],
);

/** A configuration that makes a program slower or wrong. */
export interface LeftOut {
  readonly workload: string;
  /** Text of the configuration, as in the database. */
  readonly configuration: string;
  readonly reason: string;
}

/** The verdict on a program with its decisions. */
export interface ProgramMemory {
  readonly leftOut: readonly LeftOut[];
  /** The set with correct results and no loss of speed, see `injectedSet`; null for none. */
  readonly verified: string | null;
  /** The verdict on variants of the decisions; null for none. */
  readonly programWide: DecisionsNote | null;
  /** A set without a verdict, with the reason; null for none. */
  readonly open: (Omit<Undecided, 'workload'> & { readonly set: string; readonly code?: ReasonCode }) | null;
}

export interface DecisionsNote {
  /** Workloads with the configurations that were tried, see `partsOf`. */
  readonly offers: readonly string[];
  /** The configurations that the program is faster with: those of variants, and those whose own gain is not certain. */
  readonly chosen: readonly { readonly workload: string; readonly configuration: OwnConfiguration }[];
  /** Reason for users. */
  readonly reason: string;
  /** The budget if it was too small for a result; null with a result. */
  readonly budgetSeconds: number | null;
}

type Open = NonNullable<ProgramMemory['open']>;
type Chosen = DecisionsNote['chosen'][number];

const isTuned = (value: unknown) => isConfiguration(value) && !isDefault(value);

export const programMemory = programNotes(
  'program',
  hasFields<ProgramMemory>({
    leftOut: listOf(hasFields<LeftOut>({ workload: isText, configuration: isText, reason: isText })),
    verified: orNull(isText),
    programWide: orNull(
      hasFields<DecisionsNote>({
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
  joinedMemory,
);

/**
 * The first verdict, with the tries of the first note: these may be about other configurations. A configuration that makes the program slower
 * in the first note is left out, too.
 */
function joinedMemory(notes: readonly [ProgramMemory, ...ProgramMemory[]]): ProgramMemory {
  const [first] = notes;
  const verdict = notes.find((note) => hasVerdict({ kind: 'program', note })) ?? first;
  if (verdict === first) return first;
  const leftOut = [...verdict.leftOut, ...first.leftOut];
  return { ...verdict, leftOut, programWide: verdict.programWide ?? first.programWide, open: first.open };
}

/** A program with its decisions and its verdict so far. */
export interface KnownProgram extends FormedProgram {
  readonly decisions: readonly Decision[];
  /** See `programIdentity`. */
  readonly identity: string;
  readonly memory: ProgramMemory | null;
  /** The variant of its decisions that no run has tried. */
  readonly variant: DecisionsVariant;
}

/** Key of the injected configurations and their route. Two programs with the same key are the same. */
export function injectedSet(decisions: readonly Decision[], route: string): string {
  const pairs = decisions
    .filter(isInjected)
    .map(({ tunable, configuration }) => `${tunable.key} ${configurationText(configuration)}`);
  return JSON.stringify([route, ...new Set(pairs.sort())]);
}

/**
 * Decisions by the verdict on the program: without the configurations that make it slower or wrong, and with the variant that is faster, if
 * the settings allow its route.
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
  const ranks = new Map(
    kept.flatMap(({ tunable }) => (tunable === null ? [] : [[tunable.key, workloadRank(tunable.workload)]])),
  );
  const known = chosen
    // The note may come from anybody.
    .filter(({ workload, configuration }) => isConfiguration(configuration, ranks.get(workload)))
    .filter(({ workload, configuration }) =>
      needsOf(configuration) === null ? !recorded.has(workload) : mayPreprocess(inject),
    );
  return withConfigurations(kept, new Map(known.map((one) => [one.workload, one.configuration])), reason);
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
