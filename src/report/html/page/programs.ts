// Whole programs: their gains, and the tuned share of their time.
import type { Model } from '../bench-models.ts';
import { formatSeconds } from '../../../system/format.ts';
import { gainText, percentText } from '../texts.ts';
import type { Drawing } from './rows.ts';
import { sortableTable, type Column } from './table.ts';

export const drawPrograms: Drawing = (host, { data }) => {
  const seconds = (i: 0 | 1) => ({
    value: ({ verdict }: Model) => verdict?.timing?.seconds[i] ?? NaN,
    format: formatSeconds,
    isMinor: true,
  });
  const table = sortableTable<Model>({
    caption: 'Programs',
    sortedBy: [3, true],
    columns: [
      { title: 'Program', value: ({ model }) => model, isLong: true },
      { title: 'Stock', ...seconds(0) },
      { title: 'Tuned', ...seconds(1) },
      { title: 'Gain', value: ratioOf, format: gainText },
      share('Time tuned', ({ applied }) => applied),
      share('Default is best', ({ decided, applied }) => decided - applied),
      share('No decision', ({ contractions, decided }) => contractions - decided),
      share('Other work', ({ contractions }) => 1 - contractions),
      { title: 'Result', value: outcomeOf, isLong: true },
    ],
  });
  table.show(data.models!.results);
  host.append(table.element);
  return undefined;
};

/** The same code is neither faster nor slower. Its times differ by noise. NaN for a program that was not timed. */
const ratioOf = ({ verdict, sameCode }: Model): number => (sameCode ? 1 : (verdict?.timing?.ratio ?? NaN));

/** A column with a share of the time in the stock program's dispatches. */
const share = (title: string, of: (coverage: NonNullable<Model['coverage']>) => number): Column<Model> => ({
  ...{ title, isMinor: true, format: percentText },
  value: ({ coverage }) => (coverage === null ? NaN : Math.max(0, of(coverage))),
});

function outcomeOf({ state, reason, sameCode, verdict, coverage }: Model): string {
  const timing = sameCode ? null : verdict?.timing;
  const left = coverage?.left.map((one) => `${percentText(one.share)} ${one.reason}`) ?? [];
  const parts = [
    verdict?.equal === false ? 'results differ' : null,
    sameCode ? 'same code' : null,
    timing && `99% interval ${gainText(timing.low)} to ${gainText(timing.high)}`,
    ...[state, reason],
    left.length === 0 ? null : `without a decision: ${left.join(', ')}`,
  ];
  return parts.filter((part) => part !== null && part !== undefined).join('; ');
}
