// The dispatches of timed programs, by the time that they lose, and their groups.
import { sumOf } from '../../../measure/statistics.ts';
import { formatSeconds, percent } from '../../../system/format.ts';
import type { DispatchLoss } from '../../loss.ts';
import type { PageLoss } from '../data.ts';
import { choice, element, isolated } from './dom.ts';
import type { Drawing } from './rows.ts';
import { sortableTable, type Column } from './table.ts';

export const drawLost: Drawing = (host, { data }) => {
  const { losses, places } = data;
  const nameOf = ({ name, place }: PageLoss) => {
    const { deviceName, compiler } = places[place]!;
    return `${name}, ${deviceName}, ${compiler}`;
  };
  const programs = losses.map((one, i) => [String(i), nameOf(one)] as const);
  const label = choice('Program', programs, (at) => {
    show(losses[Number(at)]!);
  });
  const sums = element('p');
  const groups = sortableTable<Group>({
    caption: 'Groups of dispatches',
    sortedBy: [1, true],
    columns: [
      { title: 'Group', value: ({ group }) => group },
      ...timesOf<Group>(),
      { title: 'Dispatches', value: ({ count }) => count },
    ],
  });
  const dispatches = sortableTable<DispatchLoss>({
    caption: 'Dispatches',
    sortedBy: [1, true],
    columns: [
      { title: 'Dispatch', value: ({ dispatch }) => dispatch, isLong: true },
      ...timesOf<DispatchLoss>(),
      { title: 'Of bound', value: ({ share }) => share ?? NaN, format: percent },
      { title: 'Group', value: ({ group }) => group, isMinor: true },
      {
        ...{ title: 'Bound by', isMinor: true, isLong: true },
        value: ({ limit, unknown }: DispatchLoss) => limit ?? `unknown: ${unknown!}`,
      },
    ],
  });
  function show(loss: PageLoss): void {
    sums.replaceChildren(isolated(loss.summary));
    groups.show(groupsOf(loss.dispatches));
    dispatches.show(loss.dispatches);
  }
  if (losses.length > 1) host.append(element('div', { class: 'controls' }, label));
  host.append(sums, groups.element, dispatches.element);
  show(losses[0]!);
  return undefined;
};

interface Group extends Pick<DispatchLoss, 'group' | 'seconds' | 'lostSeconds'> {
  readonly count: number;
}

const timesOf = <T extends Pick<DispatchLoss, 'seconds' | 'lostSeconds'>>(): Column<T>[] => [
  { title: 'Lost', value: ({ lostSeconds }) => lostSeconds ?? NaN, format: formatSeconds },
  { title: 'Time', value: ({ seconds }) => seconds, format: formatSeconds },
];

/** Dispatches by the kind of their work. A group without any bound has no loss. */
const groupsOf = (dispatches: readonly DispatchLoss[]): Group[] =>
  [...Map.groupBy(dispatches, ({ group }) => group)].map(([group, own]) => {
    const known = own.flatMap(({ lostSeconds }) => lostSeconds ?? []);
    return {
      ...{ group, count: own.length, seconds: sumOf(own.map(({ seconds }) => seconds)) },
      lostSeconds: known.length === 0 ? null : sumOf(known),
    };
  });
