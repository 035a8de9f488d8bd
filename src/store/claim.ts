// How claims, marks and revocations of several databases become one. Pure: each merge is associative, commutative and
// idempotent, so that it does not matter who merges what with whom, how often and in which order; no clock decides anything.
import { configurationText } from '../backend/index.ts';
import { sha256 } from '../system/sha256.ts';
import type { Claim, Evidence, KeptMark, Origin, Revocation } from './store.ts';

/** Of how this version measures and judges. Raised when evidence of before is worth less. */
export const EVIDENCE_VERSION = 2;

/** Of the intervals of evidence. */
export const CONFIDENCE = 0.99;

/**
 * The digest of a claim: SHA-256 of its JSON with keys in this order, without what merges on its own (families, trials,
 * tuningSeconds). Nobody needs it on a hit.
 */
export function digestOf(claim: Omit<Claim, 'digest'>): string {
  const { workload, target, device, compiler, configuration, createdAt, createdBy, machine, tool } = claim;
  const { version, confidence, ratio, low, high, defaultSeconds, seconds } = claim.evidence;
  const { processes, repetitions, noiseFloor, maxError, complete } = claim.evidence;
  const measured = { version, confidence, ratio, low, high, defaultSeconds, seconds };
  const evidence = { ...measured, processes, repetitions, noiseFloor, maxError, complete };
  return sha256(
    JSON.stringify({
      ...{ type: 'claim', version: 1, workload, target, device, compiler },
      ...{ configuration: JSON.parse(configurationText(configuration)) as unknown, evidence },
      ...{ createdAt, createdBy, machine, tool },
    }),
  );
}

/** Negative, zero or positive as two texts or numbers are in order; texts by their code units. */
export const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Evidence of a version that this program does not know counts as the newest known: anybody can claim to be version 1000. */
const knownVersion = (version: number): number => Math.min(version, EVIDENCE_VERSION);

/**
 * Which of two claims of the same subject and configuration has the better evidence: positive when it is `a`, and zero only
 * for what is the same.
 */
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

/** The union of families, and the greater effort: searches go on from each other, and count earlier effort. */
export const joinedEffort = (a: Effort, b: Effort): Effort => ({
  families: [...new Set([...a.families, ...b.families])].sort(),
  trials: Math.max(a.trials, b.trials),
  tuningSeconds: Math.max(a.tuningSeconds, b.tuningSeconds),
});

/** One claim of two for the same subject and configuration: the better one, with the effort of both. */
export function joined(a: Claim, b: Claim): Claim {
  const best = better(a, b) >= 0 ? a : b;
  return { ...best, evidence: { ...best.evidence, ...joinedEffort(a.evidence, b.evidence) } };
}

/** The same if one of them may be revoked: a revoked claim replaces no other one. */
export function joinedUnder(
  a: Claim,
  b: Claim,
  revocations: readonly Pick<Revocation, 'scope' | 'value'>[],
): Claim {
  const [isARevoked, isBRevoked] = [isRevoked(a, revocations), isRevoked(b, revocations)];
  if (isARevoked === isBRevoked) return joined(a, b);
  return isARevoked ? b : a;
}

/** One mark of two that differ in nothing but when and why: the first. */
export const joinedMark = (a: KeptMark, b: KeptMark): KeptMark =>
  (compare(a.createdAt, b.createdAt) || compare(a.reason, b.reason)) <= 0 ? a : b;

/** The fields that decide whether a mark counts. */
export type MarkSign = Pick<KeptMark, 'generation' | 'kind' | 'createdBy' | 'machine'>;

/**
 * The marks of one configuration that count: those of the highest generation, where `slower` needs two origins, since a
 * program may be slower for reasons of its own. What somebody has found out himself he need not be told twice.
 * @param own whose marks count at once; left out where marks are judged for everybody
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

/** Whether a configuration with these marks must not be used. See `countingMarks`. */
export const isMarked = (marks: readonly MarkSign[], own?: Pick<Origin, 'createdBy' | 'machine'>): boolean =>
  countingMarks(marks, own).length > 0;

/** The generation that a new mark belongs to. */
export function nextGeneration(
  marks: readonly Pick<KeptMark, 'generation'>[],
  kind: KeptMark['kind'],
): number {
  const highest = marks.reduce((generation, mark) => Math.max(generation, mark.generation), 0);
  return kind === 'lifted' ? highest + 1 : highest;
}

/** Whether a revocation names this origin, or the claim with this digest. */
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
