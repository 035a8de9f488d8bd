// Merges claims, marks and revocations of several databases. Pure. Each merge is associative, commutative and idempotent, and uses no
// clock, so databases reach the same content in any order.
import { configurationText } from '../backend/index.ts';
import { isObject, pick } from '../system/data.ts';
import { sha256 } from '../system/hash.ts';
import { MEASURED } from './fields.ts';
import type { Claim, Evidence, KeptMark, KeptNote, Origin, Revocation } from './store.ts';
import { keysOf } from './subject.ts';

/** Version of measuring and judging. Raise it when older evidence is worth less. */
export const EVIDENCE_VERSION = 2;

/** Confidence of intervals in evidence. */
export const CONFIDENCE = 0.99;

/**
 * Digest of a claim: SHA-256 of its JSON with keys in this order. It excludes fields that merge on their own: families, trials,
 * tuningSeconds. No hit calls it.
 */
export function digestOf(claim: Omit<Claim, 'digest'>): string {
  const { createdAt, createdBy, machine, tool, evidence } = claim;
  const { version, confidence, complete } = evidence;
  return sha256(
    JSON.stringify({
      ...{ type: 'claim', version: 1, ...keysOf(claim) },
      configuration: JSON.parse(configurationText(claim.configuration)) as unknown,
      evidence: { version, confidence, ...pick(evidence, MEASURED), complete },
      ...{ createdAt, createdBy, machine, tool },
    }),
  );
}

/** Compares two numbers, or two texts by code units: negative, zero or positive. */
export const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** A later version of evidence counts as this one, because anybody can claim version 1000. */
const knownVersion = (version: number): number => Math.min(version, EVIDENCE_VERSION);

/** Compares the evidence of two claims for one configuration: positive if `a` is better, zero only for equal claims. */
export function better(a: Claim, b: Claim): number {
  const [x, y] = [a.evidence, b.evidence];
  return (
    compare(knownVersion(x.version), knownVersion(y.version)) ||
    compare(Number(x.complete), Number(y.complete)) ||
    compare(x.processes, y.processes) ||
    compare(x.repetitions, y.repetitions) ||
    compare(x.low, y.low) ||
    compare(a.digest, b.digest)
  );
}

/** Effort of all searches for a subject, and their families of configurations. */
export type Effort = Pick<Evidence, 'families' | 'trials' | 'tuningSeconds'>;

/** The union of families, and the greater effort, because a search includes the effort of earlier ones. */
export const joinedEffort = (a: Effort, b: Effort): Effort => ({
  families: [...new Set([...a.families, ...b.families])].sort(),
  trials: Math.max(a.trials, b.trials),
  tuningSeconds: Math.max(a.tuningSeconds, b.tuningSeconds),
});

/** Merges two claims for one configuration: the better claim with the effort of both. */
export function joined(a: Claim, b: Claim): Claim {
  const best = better(a, b) >= 0 ? a : b;
  return { ...best, evidence: { ...best.evidence, ...joinedEffort(a.evidence, b.evidence) } };
}

/** The same with revocations: a revoked claim never replaces another. */
export function joinedUnder(
  a: Claim,
  b: Claim,
  revocations: readonly Pick<Revocation, 'scope' | 'value'>[],
): Claim {
  const [isARevoked, isBRevoked] = [isRevoked(a, revocations), isRevoked(b, revocations)];
  if (isARevoked === isBRevoked) return joined(a, b);
  return isARevoked ? b : a;
}

/** The fields of a mark that decide whether it counts. */
export type MarkSign = Pick<KeptMark, 'generation' | 'kind' | 'createdBy' | 'machine'>;

/**
 * The marks of one configuration that count: those of the highest generation. Marks `slower` need two origins, because a program may be
 * slower for other reasons. A mark of the own origin suffices.
 * @param own the own origin; absent for a judgement for everybody
 */
export function countingMarks<M extends MarkSign>(
  marks: readonly M[],
  own?: Pick<Origin, 'createdBy' | 'machine'>,
): M[] {
  const highest = marks.reduce((generation, mark) => Math.max(generation, mark.generation), 0);
  const latest = marks.filter(({ generation, kind }) => generation === highest && kind !== 'lifted');
  const slower = latest.filter(({ kind }) => kind === 'slower');
  const isOwn = ({ createdBy, machine }: M) => createdBy === own?.createdBy && machine === own.machine;
  const origins = new Set(slower.map(({ createdBy, machine }) => JSON.stringify([createdBy, machine])));
  const isSlower = origins.size > 1 || slower.some(isOwn);
  return latest.filter(({ kind }) => kind !== 'slower' || isSlower);
}

/** Whether marks forbid a configuration. See `countingMarks`. */
export const isMarked = (marks: readonly MarkSign[], own?: Pick<Origin, 'createdBy' | 'machine'>): boolean =>
  countingMarks(marks, own).length > 0;

/** Generation of a new mark. */
export function nextGeneration(
  marks: readonly Pick<KeptMark, 'generation'>[],
  kind: KeptMark['kind'],
): number {
  const highest = marks.reduce((generation, mark) => Math.max(generation, mark.generation), 0);
  return kind === 'lifted' ? highest + 1 : highest;
}

/** Whether a revocation covers an origin or a digest. */
export const isRevoked = (
  { createdBy, machine, tool, digest }: Origin & { readonly digest?: string },
  revocations: readonly Pick<Revocation, 'scope' | 'value'>[],
): boolean =>
  revocations.some(({ scope, value }) => {
    switch (scope) {
      case 'record':
        return value === digest;
      case 'tool':
        return value === tool;
      case 'origin':
        return [createdBy, machine, `${createdBy}@${machine}`].includes(value);
    }
  });

/** Whether a note has the result of a run. Other notes only count tries. */
export function hasVerdict({ kind, note }: Pick<KeptNote, 'kind' | 'note'>): boolean {
  if (!isObject(note)) return false;
  return kind === 'forms' ? note['verdict'] !== 'open' : note['open'] === null;
}

/**
 * Compares two notes of one origin about one program: positive if `a` stays. A verdict stays before a try, then the later note, then the
 * greater text.
 */
export const compareNotes = (a: KeptNote, b: KeptNote): number =>
  compare(Number(hasVerdict(a)), Number(hasVerdict(b))) ||
  compare(a.writtenAt, b.writtenAt) ||
  compare(JSON.stringify([a.note, a.tool]), JSON.stringify([b.note, b.tool]));
