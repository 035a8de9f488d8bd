// The numbers at the top of the page. Pure.
import { countText, counted, formatDuration, formatSeconds } from '../../system/format.ts';
import type { PageData } from './data.ts';
import type { Facts } from './facts.ts';
import { gainText } from './numbers.ts';
import { shapeOf } from './shape-name.ts';

interface Tile {
  readonly value: string;
  readonly unit?: string;
  readonly label: string;
}

export function tilesOf({ statistics: { hitRate, compiles } }: PageData, facts: Facts): Tile[] {
  const { geometricMean, best, seconds, records, faster, workloads, tuningSeconds } = facts;
  const tiles: (Tile | null)[] = [
    geometricMean === null
      ? { value: '–', label: 'nothing is faster than the default yet' }
      : {
          value: gainText(geometricMean),
          label: `geometric mean gain of ${counted(faster, 'tuned record')}`,
        },
    best && { value: gainText(best.ratio), label: `largest gain: ${shapeOf(best.workload)}` },
    seconds && {
      value: formatSeconds(seconds.tuned).replace(' ', '\u00a0'),
      label: `to run every record once, ${formatSeconds(seconds.default)} with the compiler’s defaults`,
    },
    {
      value: countText(records),
      label: `${records === 1 ? 'record' : 'records'} of ${counted(workloads, 'workload')}, tuned in ${formatDuration(tuningSeconds)}`,
    },
    hitRate === null
      ? null
      : {
          ...{ value: (100 * hitRate).toFixed(0), unit: '%' },
          label: `hit rate of ${counted(compiles.all, 'compile')}`,
        },
  ];
  return tiles.filter((tile) => tile !== null);
}
