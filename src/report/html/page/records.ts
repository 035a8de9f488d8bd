// The sortable table of all records.
import { formatDuration, formatSeconds, percent, timeText } from '../../../system/format.ts';
import { shellWord } from '../../../system/shell-word.ts';
import { gainText } from '../texts.ts';
import { copyable, element, isolated } from './dom.ts';
import { rateOf, rateText } from './figure.ts';
import type { Drawing, Row } from './rows.ts';
import { sortableTable } from './table.ts';

export const drawRecords: Drawing = (host) => {
  const table = sortableTable<Row>({
    caption: 'Records',
    sortedBy: [1, true],
    details: detailsOf,
    columns: [
      { title: 'Workload', value: ({ shape }) => shape },
      {
        title: 'Gain',
        value: gainOf,
        show: ({ outcome, ratio }) => (outcome === 'faster' ? gainText(ratio) : SHORT[outcome]),
      },
      {
        title: 'Default',
        value: ({ defaultSeconds }) => defaultSeconds,
        format: formatSeconds,
        isMinor: true,
      },
      { title: 'Tuned', value: ({ seconds }) => seconds, format: formatSeconds },
      {
        title: 'GFLOP/s',
        value: ({ flops, seconds }) => rateOf(flops, seconds),
        format: rateText,
        isMinor: true,
      },
      { title: 'Of bound', value: shareOf, format: percent, isMinor: true },
      { title: 'Lost', value: lostBy, format: formatSeconds, isMinor: true },
      { title: 'Configuration', value: ({ configuration }) => configuration, isMinor: true, isLong: true },
      { title: 'Device', value: ({ place }) => place.deviceName, isMinor: true, isLong: true },
      { title: 'Compiler', value: ({ place }) => place.compiler, isMinor: true, isLong: true },
      { title: 'Written', value: ({ createdAt }) => createdAt.slice(0, 10), isMinor: true },
    ],
  });
  host.append(table.element);
  return table.show;
};

const SHORT = { 'default is best': 'default', 'must not be used': 'failed' } as const;

/** Unusable records come last. */
const gainOf = ({ outcome, ratio }: Row): number =>
  outcome === 'faster' ? ratio : outcome === 'default is best' ? 1 : 0;

const shareOf = ({ bound, seconds }: Row): number => (bound ?? NaN) / seconds;

const lostBy = ({ bound, seconds }: Row): number => Math.max(0, seconds - (bound ?? NaN));

function detailsOf(row: Row): Node {
  const { workload, ratio, low, high, defaultSeconds, seconds, trials, complete, createdAt } = row;
  const { target, device, deviceName, compiler } = row.place;
  const less = `${(100 * (1 - seconds / defaultSeconds)).toFixed(1)}% less`;
  const values = {
    Workload: workload,
    Configuration: row.configuration,
    Gain: `${ratio.toFixed(3)}×, 99% interval ${low.toFixed(3)}× to ${high.toFixed(3)}×`,
    Time: `${formatSeconds(defaultSeconds)} by default, ${formatSeconds(seconds)} as decided (${less})`,
    Search: `${trials} trials in ${formatDuration(row.tuningSeconds)}${complete ? '' : ', not complete'}`,
    ...(row.flops !== null && { 'FLOP per byte': (row.flops / row.bytes!).toPrecision(3) }),
    Target: target,
    Device: deviceName === device ? device : `${deviceName}: ${device}`,
    Compiler: compiler,
    Written: `${timeText(createdAt)} by ${row.createdBy} on ${row.machine}`,
    ...(row.failure !== null && { 'Not used because': row.failure }),
  };
  const list = element('dl');
  for (const [name, value] of Object.entries(values))
    list.append(element('dt', {}, name), element('dd', {}, isolated(value)));
  return element('div', {}, list, copyable(`iree-tuned db show ${shellWord(workload)}`));
}
