// Open tasks: misses with the commands that tune them.
import type { PageMiss } from '../data.ts';
import { copyable, element } from './dom.ts';
import type { Drawing } from './rows.ts';
import { sortableTable } from './table.ts';

export const drawNext: Drawing = (host, { data }) => {
  const placeOf = ({ place }: PageMiss) => data.places[place]!;
  const table = sortableTable<PageMiss>({
    caption: 'Misses',
    sortedBy: [1, true],
    details: ({ commands }) =>
      element(
        'div',
        {},
        ...commands.flatMap(({ how, command }) => [element('p', {}, how), copyable(command)]),
      ),
    columns: [
      { title: 'Workload', value: ({ shape }) => shape },
      { title: 'Builds', value: ({ count }) => count },
      { title: 'Last', value: ({ lastSeenAt }) => lastSeenAt.slice(0, 10), isMinor: true },
      { title: 'Device', value: (miss) => placeOf(miss).deviceName, isLong: true },
      { title: 'Compiler', value: (miss) => placeOf(miss).compiler, isMinor: true, isLong: true },
      { title: 'Last search', value: ({ undecided }) => undecided ?? '', isMinor: true, isLong: true },
    ],
  });
  table.show(data.misses);
  host.append(table.element);
  return undefined;
};
