// The numbers at the top of the page. Pure.
import { countText, counted, formatDuration, formatSeconds } from '../../system/format.ts';
import type { PageData } from './data.ts';
import type { Facts } from './facts.ts';
import { gainText } from './numbers.ts';
import { shapeOf } from './shape-name.ts';

interface Tile {
  readonly value: string;
  readonly unit: string;
  readonly label: string;
}

export function tilesOf({ statistics }: PageData, facts: Facts): Tile[] {
  const { geometricMean, best, seconds, records, faster } = facts;
  return [
    geometricMean === null
      ? { value: '–', unit: '', label: 'nothing is faster than the default yet' }
      : {
          value: gainText(geometricMean),
          unit: '',
          label: `geometric mean gain of ${counted(faster, 'tuned record')}`,
        },
    ...(best === null
      ? []
      : [{ value: gainText(best.ratio), unit: '', label: `largest gain: ${shapeOf(best.workload)}` }]),
    ...(seconds === null
      ? []
      : [
          {
            value: formatSeconds(seconds.tuned).replace(' ', '\u00a0'),
            unit: '',
            label: `to run every record once, ${formatSeconds(seconds.default)} with the compiler’s defaults`,
          },
        ]),
    {
      value: countText(records),
      unit: '',
      label: `${records === 1 ? 'record' : 'records'} of ${counted(facts.workloads, 'workload')}, tuned in ${formatDuration(facts.tuningSeconds)}`,
    },
    ...(statistics.hitRate === null
      ? []
      : [
          {
            value: (100 * statistics.hitRate).toFixed(0),
            unit: '%',
            label: `hit rate of ${counted(statistics.compiles.all, 'compile')}`,
          },
        ]),
  ];
}
