// The sortable table of all records.
import { formatDuration, formatSeconds } from '../../../system/format.ts';
import { gainText } from '../numbers.ts';
import { shellWord } from '../plain.ts';
import { copyable } from './copy.ts';
import { element, isolated } from './dom.ts';
import type { Drawing } from './page.ts';
import type { Row } from './rows.ts';
import { rateOf, rateText } from './scales.ts';
import { sortableTable } from './table.ts';

export const drawRecords: Drawing = (host) => {
  const table = sortableTable<Row>({
    caption: 'Records',
    sortedBy: [1, true],
    perPage: 25,
    details: detailsOf,
    columns: [
      { title: 'Workload', value: ({ shape }) => shape },
      {
        title: 'Gain',
        value: gainOf,
        show: (row) =>
          row.outcome === 'faster'
            ? gainText(row.ratio)
            : row.outcome === 'default is best'
              ? 'default'
              : 'failed',
      },
      {
        title: 'Default',
        value: ({ before }) => before,
        show: ({ before }) => formatSeconds(before),
        isMinor: true,
      },
      { title: 'Tuned', value: ({ after }) => after, show: ({ after }) => formatSeconds(after) },
      {
        title: 'GFLOP/s',
        value: rate,
        show: (row) => (Number.isNaN(rate(row)) ? '–' : rateText(rate(row))),
        isMinor: true,
      },
      { title: 'Configuration', value: ({ configuration }) => configuration, isMinor: true, isLong: true },
      { title: 'Device', value: ({ device }) => device, isMinor: true, isLong: true },
      { title: 'Compiler', value: ({ place }) => place.compiler, isMinor: true, isLong: true },
      {
        title: 'Written',
        value: ({ written }) => written.getTime(),
        show: ({ written }) => dayOf(written),
        isMinor: true,
      },
    ],
  });
  host.append(table.element);
  return (rows) => {
    table.show(rows);
  };
};

/** Unusable records come last. */
const gainOf = ({ outcome, ratio }: Row): number =>
  outcome === 'faster' ? ratio : outcome === 'default is best' ? 1 : 0;

const rate = ({ flops, after }: Row): number => (flops === null ? NaN : rateOf(flops, after));

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

function detailsOf(row: Row): Node {
  const percent = (part: number) => `${(100 * part).toFixed(1)}%`;
  const values: [string, string][] = [
    ['Workload', row.key],
    ['Configuration', row.configuration],
    ['Gain', `${row.ratio.toFixed(3)}×, 99% interval ${row.low.toFixed(3)}× to ${row.high.toFixed(3)}×`],
    [
      'Time',
      `${formatSeconds(row.before)} by default, ${formatSeconds(row.after)} as decided (${percent(1 - row.after / row.before)} less)`,
    ],
    [
      'Search',
      `${row.trials} trials in ${formatDuration(row.tuningSeconds)}${row.complete ? '' : ', not complete'}`,
    ],
    ['Target', row.place.target],
    [
      'Device',
      row.place.deviceName === null ? row.place.device : `${row.place.deviceName}: ${row.place.device}`,
    ],
    ['Compiler', row.place.compiler],
    ['Written', `${row.written.toISOString().slice(0, 16).replace('T', ' ')} UTC by ${row.author}`],
    ...(row.failure === null ? [] : [['Not used because', row.failure] as [string, string]]),
  ];
  const list = element('dl');
  for (const [name, value] of values)
    list.append(element('dt', {}, name), element('dd', {}, isolated(value)));
  return element('div', {}, list, copyable(`iree-tuned db show ${shellWord(row.key)}`));
}
