// The fields of stored values in the order of their lines, each with its check. The columns of the tables have the same names in snake
// case.
import { placeIn } from '../compiler/command-identity.ts';
import { configurationText, isConfiguration } from '../backend/index.ts';
import { isBoolean, orNull, type Check } from '../system/data.ts';
import type { Evidence, KeptMark, Run, Trial } from './store.ts';
import {
  HIGHEST_GENERATION,
  LONGEST_CONFIGURATION,
  LONGEST_KEY,
  LONGEST_NAME,
  LONGEST_REASON,
  LONGEST_REVOKED,
  areFamilies,
  areTimes,
  isCount,
  isHex,
  isInstant,
  isNote,
  isNotNegative,
  isPositive,
  isTextOf,
  type Shape,
} from './validate.ts';

/** The parts of a subject. */
export const PARTS = ['workload', 'target', 'device', 'compiler'] as const;
export type PartType = (typeof PARTS)[number];

/** Values of fields that have few. */
export const TRIAL_OUTCOMES = ['measured', 'compile-error', 'run-error', 'timeout', 'wrong-result'] as const;
export const STAGES = ['search', 'finals'] as const;
export const PLACEMENTS = ['apart', 'packed'] as const;
export const MARK_KINDS = ['compile-error', 'wrong-result', 'slower', 'lifted'] as const;
export const SCOPES = ['record', 'tool', 'origin'] as const;

/** Notes that databases exchange: the configurations that a program keeps, and its forms. */
export const NOTE_KINDS = ['program', 'forms'] as const;

const isOneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

const isName = isTextOf(LONGEST_NAME);
const isReasonText = isTextOf(LONGEST_REASON);
const origin = { createdBy: isName, machine: isName, tool: isName };

/** A valid configuration. It is ASCII, so bytes are characters. */
const isShortConfiguration: Check = (value) =>
  isConfiguration(value) && configurationText(value).length <= LONGEST_CONFIGURATION;

/** Evidence about one measurement. The other fields merge on their own, or judge it. */
const measured = {
  ...{
    ratio: isPositive,
    low: isPositive,
    high: isPositive,
    defaultSeconds: isPositive,
    seconds: isPositive,
  },
  ...{ processes: isCount(1), repetitions: isCount(1), noiseFloor: isNotNegative, maxError: isNotNegative },
};

/** A key of `programIdentity`. */
const isProgram: Check = (value) => isTextOf(LONGEST_KEY)(value) && placeIn(value as string) !== null;

const evidence = {
  version: isCount(1, 1000),
  confidence: ((value) => isPositive(value) && (value as number) < 1) satisfies Check,
  ...measured,
  ...{ trials: isCount(0), tuningSeconds: isNotNegative, families: areFamilies, complete: isBoolean },
};

const unordered = ({ low, ratio, high }: Evidence) =>
  low <= ratio && ratio <= high ? null : 'it is inconsistent: low <= ratio <= high';

/** Shapes without the subject and its parts. A claim has the fields of its evidence. */
export const SHAPES = {
  evidence: { checks: evidence, relation: unordered },
  claim: {
    checks: {
      ...{ configuration: isShortConfiguration, ...evidence, createdAt: isInstant, ...origin },
      digest: isHex(64),
    },
    relation: unordered,
  },
  mark: {
    checks: {
      configuration: isShortConfiguration,
      generation: isCount(0, HIGHEST_GENERATION),
      ...{ kind: isOneOf(MARK_KINDS), reason: isReasonText, createdAt: isInstant, ...origin },
    },
    relation: ({ configuration }: KeptMark) =>
      configuration.kind === 'default' ? 'it marks the default' : null,
  },
  trial: {
    checks: {
      ...{ id: isHex(32), configuration: isShortConfiguration, outcome: isOneOf(TRIAL_OUTCOMES) },
      ...{ seconds: orNull(isPositive), ratio: orNull(isPositive), message: orNull(isReasonText) },
      ...{ strategy: isName, createdAt: isInstant, ...origin },
    },
    relation: ({ outcome, seconds, ratio }: Trial) =>
      (outcome === 'measured') === (seconds !== null) && (seconds !== null || ratio === null)
        ? null
        : 'its time and ratio do not fit its outcome',
  },
  run: {
    checks: {
      ...{ stage: isOneOf(STAGES), batch: isCount(0), placement: isOneOf(PLACEMENTS), build: isCount(0) },
      ...{ seconds: areTimes, defaultSeconds: orNull(areTimes) },
    },
    relation: ({ seconds, defaultSeconds }: Run) =>
      defaultSeconds === null || defaultSeconds.length === seconds.length
        ? null
        : 'a run has times and default times of different sizes',
  },
  revocation: {
    checks: {
      ...{ scope: isOneOf(SCOPES), value: isTextOf(LONGEST_REVOKED, 1), reason: isReasonText },
      ...{ createdAt: isInstant, createdBy: isName },
    },
  },
  note: {
    checks: { program: isProgram, kind: isOneOf(NOTE_KINDS), note: isNote, writtenAt: isInstant, ...origin },
  },
} satisfies Record<string, Shape>;

const namesOf = <T extends object>(checks: T) => Object.keys(checks) as (keyof T)[];

export const MEASURED = namesOf(measured);

type Names = { readonly [Name in keyof typeof SHAPES]: (keyof (typeof SHAPES)[Name]['checks'])[] };

/** The names of each shape. */
export const FIELDS = Object.fromEntries(
  Object.entries(SHAPES).map(([name, { checks }]) => [name, namesOf(checks)]),
) as unknown as Names;
