// How much of a program's time tuning reaches, and why it does not reach the rest. Pure.
import type { DispatchTime as Time, DispatchTimes } from '../../src/measure/dispatch-times.ts';
import type { ExplainedOperation, Explanation } from '../../src/report/explain.ts';
import { counted } from './arguments.ts';
import type { Root } from './contractions.ts';

/** A dispatch of a program, by its name. */
export interface DispatchTime extends Time {
  /** Such as `main_dispatch_2_vecmat_768x768_f32`, which is also its function's name in the executable. */
  readonly name: string;
}

export const namedTimes = (times: DispatchTimes): DispatchTime[] =>
  [...times].map(([name, time]) => ({ name, ...time }));

/** Shares of the time that a program spends in its dispatches. */
export interface Coverage {
  /** In those with contractions, or something like them. */
  readonly contractions: number;
  /** In those of them that there is a decision about; the default may be the best. */
  readonly decided: number;
  /** In those of them that have another configuration than the default. */
  readonly applied: number;
  /** The contractions that do not, largest share first. */
  readonly left: readonly Left[];
}

export interface Left {
  readonly reason: string;
  readonly share: number;
  /** Names, longest time first. */
  readonly dispatches: readonly string[];
}

/** What is less of the time is not worth a line. */
export const LEAST_SHARE = 0.005;

type Fate = { readonly isDecided: boolean } & (
  { readonly isApplied: true } | { readonly isApplied: false; readonly reason: string }
);

const PACKED = 'packed operands are not tuned yet';

/** Null when nobody knows where the time goes. */
export function coverageOf(
  times: readonly DispatchTime[],
  roots: ReadonlyMap<string, Root>,
  explanation: Explanation | null,
): Coverage | null {
  const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
  if (total === 0) return null;
  const shares = { contractions: 0, decided: 0, applied: 0 };
  const left = new Map<string, { share: number; dispatches: string[] }>();
  for (const { name, seconds } of times) {
    const root = roots.get(name);
    if (root === undefined) continue;
    const share = seconds / total;
    const fate = fateOf(root, explanation);
    shares.contractions += share;
    if (fate.isDecided) shares.decided += share;
    if (fate.isApplied) {
      shares.applied += share;
      continue;
    }
    const others = left.get(fate.reason) ?? { share: 0, dispatches: [] };
    left.set(fate.reason, {
      share: others.share + share,
      dispatches: [...others.dispatches, name],
    });
  }
  const byShare = [...left].map(([reason, one]) => ({ reason, ...one })).sort((a, b) => b.share - a.share);
  return { ...shares, left: byShare };
}

function fateOf({ workload, reason }: Root, explanation: Explanation | null): Fate {
  const not = (reason: string, isDecided = false): Fate => ({ isDecided, isApplied: false, reason });
  // A tuned program has packed operands where data tiling was chosen.
  const isDataTiled = explanation?.operations.some(
    ({ configuration }) => configuration?.kind === 'data-tile',
  );
  if (reason === PACKED && isDataTiled === true) return { isDecided: true, isApplied: true };
  if (workload === null) return not(reason ?? 'no contraction');
  if (explanation === null) return not('the wrapper says nothing of it');
  const own = operationsOf(workload, explanation.operations);
  const operation = own.find(isConfigured) ?? own[0];
  if (operation === undefined) return not('no operation of the input is known to become this');
  const isDecided = operation.outcome === 'hit' || operation.outcome === 'tuned';
  if (!isConfigured(operation)) return not(operation.reason, isDecided);
  if (explanation.route === 'none') return not(explanation.reason ?? 'nothing was injected', isDecided);
  const notApplied = whyNotApplied(operation);
  return notApplied === null ? { isDecided, isApplied: true } : not(notApplied, isDecided);
}

/** The operations that become a workload: in its own dispatch where that is known, anywhere otherwise. */
export function operationsOf(
  workload: string,
  operations: readonly ExplainedOperation[],
): ExplainedOperation[] {
  const alike = (like: (workload: string) => string) =>
    operations.filter((one) => one.workload !== null && like(one.workload) === like(workload));
  const own = alike((key) => key.replace(' rhs=constant', ''));
  return own.length > 0 ? own : alike((key) => key.replace(/ (?:rhs=constant|in=[0-9a-f]+)/g, ''));
}

export const isConfigured = ({ configuration }: ExplainedOperation): boolean =>
  configuration !== null && configuration.kind !== 'default';

/** What became of a configuration that was injected and did not land; null where it did. */
export const whyNotApplied = ({ reason }: ExplainedOperation): string | null =>
  /not applied: .*/.exec(reason)?.[0] ?? null;

/** `-` for what nobody knows. */
export const percent = (share: number | undefined): string =>
  share === undefined ? '-' : `${(100 * share).toFixed(0)}%`;

/** Why contractions are not tuned, a line for each reason that is worth one. */
export const leftLines = (coverage: Coverage | null): string[] =>
  (coverage?.left ?? [])
    .filter(({ share }) => share >= LEAST_SHARE)
    .map(
      ({ reason, share, dispatches }) =>
        `  left ${percent(share)}: ${reason} (${counted(dispatches.length, 'dispatch', 'dispatches')}, ${dispatches[0]!})`,
    );
