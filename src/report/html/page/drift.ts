// The same workloads by two compilers: changes of the default and of the tuned time.
import { geometricMean } from '../../../measure/statistics.ts';
import { formatSeconds } from '../../../system/format.ts';
import { percentText } from '../texts.ts';
import type { Drawing, Row } from './rows.ts';
import { sortableTable } from './table.ts';

interface Change {
  readonly before: Row;
  readonly after: Row;
  /** Time with the new compiler over time with the old one: above 1 is slower. */
  readonly asDefault: number;
  readonly asTuned: number;
}

/** Changes between one pair of compilers. */
type Step = readonly [Change, ...Change[]];

/** Smaller changes are differences between two days. */
const LEAST = 1.05;

export const drawDrift: Drawing = (host, { rows: all }) => {
  const mean = (of: (change: Change) => number) => (step: Step) => geometricMean(step.map(of));
  const steps = sortableTable<Step>({
    caption: 'Compared compilers',
    sortedBy: [5, true],
    columns: [
      { title: 'From', value: ([{ before }]) => before.place.compiler, isLong: true },
      { title: 'To', value: ([{ after }]) => after.place.compiler, isLong: true },
      { title: 'Compared', value: ({ length }) => length, isMinor: true },
      {
        title: 'Defaults, mean',
        value: mean(({ asDefault }) => asDefault),
        format: changeText,
        isMinor: true,
      },
      { title: 'Tuned, mean', value: mean(({ asTuned }) => asTuned), format: changeText },
      { title: 'Slower when tuned', value: (step) => step.filter(({ asTuned }) => asTuned > LEAST).length },
    ],
  });
  const changes = sortableTable<Change>({
    caption: 'Changes between compilers',
    sortedBy: [4, true],
    columns: [
      { title: 'Shape', value: ({ after }) => after.shape },
      { title: 'From', value: ({ before }) => before.place.compiler, isMinor: true, isLong: true },
      { title: 'To', value: ({ after }) => after.place.compiler, isLong: true },
      { title: 'Default', value: ({ asDefault }) => asDefault, format: changeText },
      { title: 'As tuned', value: ({ asTuned }) => asTuned, format: changeText },
      { title: 'Tuned before', value: ({ before }) => before.seconds, format: formatSeconds, isMinor: true },
      { title: 'Tuned now', value: ({ after }) => after.seconds, format: formatSeconds, isMinor: true },
      { title: 'Configuration', value: configurationText, isMinor: true, isLong: true },
    ],
  });
  host.append(steps.element, changes.element);
  return (rows) => {
    const shown = rows.flatMap((after): Change[] => {
      if (after.previous === null) return [];
      const before = all[after.previous]!;
      const asDefault = after.defaultSeconds / before.defaultSeconds;
      return [{ before, after, asDefault, asTuned: after.seconds / before.seconds }];
    });
    const pairs = Map.groupBy(shown, ({ before, after }) =>
      JSON.stringify([before.place.compiler, after.place.compiler]),
    );
    steps.show([...pairs.values()] as unknown as Step[]);
    changes.show(shown);
  };
};

/** `12% slower`, `3.1× as long`, `about the same`. */
function changeText(ratio: number): string {
  if (ratio >= 2) return `${ratio.toFixed(1)}× as long`;
  if (ratio > LEAST) return `${percentText(ratio - 1)} slower`;
  if (ratio >= 1 / LEAST) return 'about the same';
  return ratio <= 0.5 ? `${(1 / ratio).toFixed(1)}× as fast` : `${percentText(1 - ratio)} less time`;
}

const configurationText = ({ before, after }: Change): string =>
  before.configuration === after.configuration ? 'the same' : `was ${before.configuration}`;
