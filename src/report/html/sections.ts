// The numbers and texts of the page: its headline, its sections, and commands for missing data. Pure.
import { geometricMean, sumOf } from '../../measure/statistics.ts';
import { countText, counted, formatDuration, formatSeconds } from '../../system/format.ts';
import type { PageData } from './data.ts';
import { gainText, shapeOf } from './texts.ts';

/** The main numbers of a page, for its headline and for `--json`. */
export function factsOf({ records }: PageData) {
  const usable = records.filter(({ failure }) => failure === null);
  const faster = records.filter(({ outcome }) => outcome === 'faster');
  const best = faster.toSorted((a, b) => b.ratio - a.ratio)[0];
  return {
    records: records.length,
    workloads: new Set(records.map(({ workload }) => workload)).size,
    /** Number of sites with measurements. */
    places: new Set(records.map(({ place }) => place)).size,
    /** Records whose configuration is faster, whose default is best, and that are not used. */
    faster: faster.length,
    default: usable.length - faster.length,
    failed: records.length - usable.length,
    /** Records with an unfinished search. */
    incomplete: usable.filter(({ complete }) => !complete).length,
    /** Mean gain of the faster records; null without any. */
    geometricMean: faster.length === 0 ? null : geometricMean(faster.map(({ ratio }) => ratio)),
    best: best === undefined ? null : { workload: best.workload, ratio: best.ratio },
    /** Time of one execution of each record, by default and as decided; null without records. */
    seconds:
      usable.length === 0
        ? null
        : {
            default: sumOf(usable.map(({ defaultSeconds }) => defaultSeconds)),
            tuned: sumOf(usable.map(({ seconds }) => seconds)),
          },
    tuningSeconds: sumOf(records.map(({ tuningSeconds }) => tuningSeconds)),
  };
}

type Facts = ReturnType<typeof factsOf>;

export function tilesOf(facts: Facts) {
  const { geometricMean, best, seconds, records, faster, workloads, tuningSeconds } = facts;
  const tiles = [
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
  ];
  return tiles.filter((tile) => tile !== null);
}

/** Text about the data, and missing data. */
interface Content {
  /** Summary; empty without data. The script draws the data below. */
  readonly lede: string;
  /** Missing data, and the command that makes it. */
  readonly missing?: {
    readonly what: string;
    readonly command: string;
  };
}

export interface Section extends Content {
  readonly id: string;
  readonly title: string;
}

const without = (what: string, command: string): Content => ({ lede: '', missing: { what, command } });

const NO_RECORDS = without(
  'There are no records yet. Build with iree-compile-tuned, or tune ahead of a build:',
  'iree-tuned tune model.mlir --budget 300',
);

export function sectionsOf(data: PageData, facts: Facts): Section[] {
  const ofRecords = (content: (data: PageData, facts: Facts) => Content) =>
    facts.records > 0 ? content(data, facts) : NO_RECORDS;
  return [
    { id: 'gains', title: 'Gains', ...ofRecords(gains) },
    { id: 'roofline', title: 'Roofline', ...ofRecords(roofline) },
    { id: 'lost', title: 'Lost time', ...lost(data) },
    { id: 'records', title: 'Records', ...ofRecords(() => ({ lede: 'The filters above select records.' })) },
  ];
}

const gains = (_: PageData, { faster, failed, default: kept }: Facts): Content => ({
  lede: `Faster than the compiler’s default: ${counted(faster, 'record')}. The default is best: ${countText(kept)}. Not used after a failure: ${countText(failed)}.`,
});

function roofline({ places }: PageData): Content {
  const isMeasured = places.some(({ rates }) => rates.bytesPerSecond !== null);
  return {
    ...(!isMeasured &&
      without(
        'The limits of the machine are not measured. This command measures them, with the dispatches of a program:',
        'iree-tuned profile model.mlir',
      )),
    lede: 'Each workload at its arithmetic intensity. Under a sloped roof memory limits it, under a flat roof the arithmetic units do.',
  };
}

function lost({ losses }: PageData): Content {
  if (losses.length === 0)
    return without(
      'No program was timed yet. This command times one, with its dispatches, and measures the limits of this machine:',
      'iree-tuned profile model.mlir',
    );
  return {
    lede: `The dispatches of ${counted(losses.length, 'timed program')}. The bound of a dispatch is the least time for its multiplications and its bytes on this machine. Whether a search has decided about a dispatch says nothing about its speed.`,
  };
}
