// The verdict of a program's run as text.
import type { ProgramVerdict } from '../program/verdict.ts';
import { PLAIN, type Page } from '../report/page.ts';
import { table } from '../report/table.ts';
import { formatRatio, formatSeconds } from '../system/format.ts';

/** A table of functions, then notes about functions and workloads that were left out. */
export function describeVerdict(
  { functions, skipped, leftOut, injected, reason: why }: ProgramVerdict,
  page: Page = PLAIN,
): string {
  const rows = functions.map(({ name, timing, equal, reason }) => [
    `@${name}`,
    formatSeconds(timing?.seconds[0] ?? NaN),
    formatSeconds(timing?.seconds[1] ?? NaN),
    formatRatio(timing?.ratio),
    equal === true ? 'equal' : equal === false ? 'DIFFERENT' : '-',
    reason ?? '',
  ]);
  return [
    ...(rows.length === 0 ? [] : [table(['program', 'stock', 'tuned', 'gain', 'outputs', ''], rows, page)]),
    ...(why === null
      ? []
      : injected
        ? [`The program is tuned, and was not verified: ${why}.`]
        : [`The program is compiled without tuning: ${why}.`]),
    ...skipped.map(({ name, reason }) => `@${name} was not run: ${reason}`),
    ...leftOut.map(({ workload, reason }) => `left to the default: ${workload}\n  ${reason}`),
  ].join('\n');
}
