// The sortable table of all records.
import { formatDuration, formatSeconds } from '../../../system/format.ts';
import { gainText, percentText, shellWord } from '../texts.ts';
import { copyable, element, isolated } from './dom.ts';
import { rateOf, rateText } from './marks.ts';
import type { Drawing, Row } from './rows.ts';
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
        show: ({ outcome, ratio }) => (outcome === 'faster' ? gainText(ratio) : SHORT[outcome]),
      },
      { title: 'Default', value: ({ before }) => before, format: formatSeconds, isMinor: true },
      { title: 'Tuned', value: ({ after }) => after, format: formatSeconds },
      { title: 'GFLOP/s', value: rate, format: rateText, isMinor: true },
      { title: 'Of bound', value: shareOf, format: percentText, isMinor: true },
      { title: 'Lost', value: lostBy, format: formatSeconds, isMinor: true },
      { title: 'Configuration', value: ({ configuration }) => configuration, isMinor: true, isLong: true },
      { title: 'Device', value: ({ place }) => place.deviceName, isMinor: true, isLong: true },
      { title: 'Compiler', value: ({ place }) => place.compiler, isMinor: true, isLong: true },
      { title: 'Written', value: ({ written }) => written.slice(0, 10), isMinor: true },
    ],
  });
  host.append(table.element);
  return (rows) => {
    table.show(rows);
  };
};

const SHORT = { 'default is best': 'default', 'must not be used': 'failed' } as const;

/** Unusable records come last. */
const gainOf = ({ outcome, ratio }: Row): number =>
  outcome === 'faster' ? ratio : outcome === 'default is best' ? 1 : 0;

const rate = ({ flops, after }: Row): number => (flops === null ? NaN : rateOf(flops, after));

const shareOf = ({ bound, after }: Row): number => (bound === null ? NaN : bound / after);

const lostBy = ({ bound, after }: Row): number => (bound === null ? NaN : Math.max(0, after - bound));

function detailsOf(row: Row): Node {
  const { key, configuration, ratio, low, high, before, after, trials, complete, place, written } = row;
  const { target, device, deviceName, compiler } = place;
  const less = `${(100 * (1 - after / before)).toFixed(1)}% less`;
  const values = {
    Workload: key,
    Configuration: configuration,
    Gain: `${ratio.toFixed(3)}×, 99% interval ${low.toFixed(3)}× to ${high.toFixed(3)}×`,
    Time: `${formatSeconds(before)} by default, ${formatSeconds(after)} as decided (${less})`,
    Search: `${trials} trials in ${formatDuration(row.tuningSeconds)}${complete ? '' : ', not complete'}`,
    Target: target,
    Device: deviceName === device ? device : `${deviceName}: ${device}`,
    Compiler: compiler,
    Written: `${written} UTC by ${row.author}`,
    ...(row.failure !== null && { 'Not used because': row.failure }),
  };
  const list = element('dl');
  for (const [name, value] of Object.entries(values))
    list.append(element('dt', {}, name), element('dd', {}, isolated(value)));
  return element('div', {}, list, copyable(`iree-tuned db show ${shellWord(key)}`));
}
