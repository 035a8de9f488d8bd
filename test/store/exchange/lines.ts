// Sample lines of Ada.
import { DEFAULT_CONFIGURATION, type Configuration } from '../../../src/backend/configuration.ts';
import type { ClaimLine, MarkLine, PartLine, TrialLine } from '../../../src/store/exchange/lines.ts';
import type { Subject } from '../../../src/store/store.ts';
import { keysOf } from '../../../src/store/subject.ts';
import { storedForm, type OperationWork } from '../../../src/workload/workload.ts';
import { SUBJECT, TILE } from '../samples.ts';
import { claimLineOf, markLineOf, partLinesOf, trialLineOf } from './samples.ts';

/** The descriptions of a subject, as lines. */
export const partsOf = (subject: Subject = SUBJECT): PartLine[] =>
  partLinesOf({
    ...subject,
    workloadForm: JSON.parse(JSON.stringify(storedForm(subject.workloadForm))) as OperationWork,
  });

/** Ada on her machine. */
export const ORIGIN = { createdBy: 'ada', machine: 'host-1', tool: '0.2.0' };

export interface ClaimChange {
  readonly subject?: Subject;
  readonly configuration?: Configuration;
  readonly evidence?: Partial<ClaimLine['evidence']>;
  readonly origin?: Partial<typeof ORIGIN>;
  readonly createdAt?: string;
}

/** A claim of Ada. The default configuration has no gain. */
export function claimOf({
  subject = SUBJECT,
  configuration = TILE,
  evidence,
  origin,
  createdAt = '2026-01-31T08:00:00.000Z',
}: ClaimChange = {}): ClaimLine {
  const gain = configuration.kind === DEFAULT_CONFIGURATION.kind ? { ratio: 1, low: 1, high: 1 } : {};
  return claimLineOf({
    ...keysOf(subject),
    configuration,
    evidence: { ...gain, ...evidence },
    createdAt,
    ...ORIGIN,
    ...origin,
  });
}

export const markOf = (change: Partial<MarkLine> = {}): MarkLine => markLineOf({ ...ORIGIN, ...change });

export const trialOf = (n: number, change: Partial<TrialLine> = {}): TrialLine =>
  trialLineOf({ id: n.toString(16).padStart(32, '0'), ...ORIGIN, runs: [], ...change });
