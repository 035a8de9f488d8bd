// Fields of stored values in the order of their lines. The columns of the tables have the same names in snake case.

/** The parts of a subject. */
export const PARTS = ['workload', 'target', 'device', 'compiler'] as const;
export type PartType = (typeof PARTS)[number];

const ORIGIN = ['createdBy', 'machine', 'tool'] as const;

/** Fields of evidence about one measurement. The other fields merge on their own, or judge it. */
export const MEASURED = [
  ...(['ratio', 'low', 'high', 'defaultSeconds', 'seconds', 'processes', 'repetitions'] as const),
  ...(['noiseFloor', 'maxError'] as const),
] as const;

/** Without the subject and its parts. A claim has the fields of its evidence. */
export const FIELDS = {
  claim: [
    ...(['configuration', 'version', 'confidence', ...MEASURED, 'trials', 'tuningSeconds'] as const),
    ...(['families', 'complete', 'createdAt', ...ORIGIN, 'digest'] as const),
  ],
  mark: ['configuration', 'generation', 'kind', 'reason', 'createdAt', ...ORIGIN],
  trial: ['configuration', 'outcome', 'seconds', 'ratio', 'message', 'strategy', ...ORIGIN],
  run: ['stage', 'batch', 'placement', 'build', 'seconds', 'defaultSeconds'],
  revocation: ['scope', 'value', 'reason', 'createdAt', 'createdBy'],
} as const;

/** Values of fields that have few. */
export const TRIAL_OUTCOMES = ['measured', 'compile-error', 'run-error', 'timeout', 'wrong-result'] as const;
export const STAGES = ['search', 'finals'] as const;
export const PLACEMENTS = ['apart', 'packed'] as const;
export const MARK_KINDS = ['compile-error', 'wrong-result', 'slower', 'lifted'] as const;
export const SCOPES = ['record', 'tool', 'origin'] as const;
