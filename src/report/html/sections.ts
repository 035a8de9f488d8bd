// The texts of the page: the numbers at its top, its sections, and commands for missing data. Pure.
import { countText, counted, formatDuration, formatSeconds } from '../../system/format.ts';
import type { PageData } from './data.ts';
import type { Facts } from './facts.ts';
import { gainText, percentText } from './numbers.ts';
import { shapeOf } from './shape-name.ts';

interface Tile {
  readonly value: string;
  readonly unit?: string;
  readonly label: string;
}

/** The numbers at the top of the page. */
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

/** Text about the data, and missing data. */
interface Content {
  /** Summary; empty without data. The script draws the data below. */
  readonly lede: string;
  readonly missing?: Way;
}

/** Missing data, and the command that makes it. */
interface Way {
  readonly what: string;
  readonly command?: string;
}

export interface Section extends Content {
  readonly id: string;
  /** Name in the list of sections. */
  readonly short: string;
  readonly title: string;
}

/** @param command without one, no command makes the data */
const without = (what: string, command?: string): Content => ({
  lede: '',
  missing: { what, ...(command !== undefined && { command }) },
});

const NO_RECORDS = without(
  'There are no records yet. Build with iree-compile-tuned, or tune ahead of a build:',
  'iree-tuned tune model.mlir --budget 300',
);

export function sectionsOf(data: PageData, facts: Facts): Section[] {
  const ofRecords = (content: () => Content) => (facts.records > 0 ? content() : NO_RECORDS);
  return [
    { id: 'gains', short: 'Gains', title: 'Gains', ...ofRecords(() => ({ lede: gains(facts) })) },
    { id: 'shapes', short: 'Shapes', title: 'Shapes, against libraries and the peak', ...shapes(data) },
    {
      ...{ id: 'roofline', short: 'Roofline', title: 'Distance from the limits of the machine' },
      ...ofRecords(() => ({
        lede: 'Each workload at its arithmetic intensity. Under the sloped roof memory limits it, under the flat roof the arithmetic units do.',
      })),
    },
    { id: 'lost', short: 'Lost time', title: 'Time lost against the limits of the machine', ...lost(data) },
    { id: 'programs', short: 'Programs', title: 'Whole programs', ...programs(data) },
    {
      ...{ id: 'records', short: 'Records', title: 'All records' },
      ...ofRecords(() => ({
        lede: `${counted(facts.records, 'record')}; the filters above select records.`,
      })),
    },
    {
      ...{ id: 'searches', short: 'Searches', title: 'Searches, trial by trial' },
      ...ofRecords(() => searches(data, facts)),
    },
    { id: 'builds', short: 'Builds', title: 'Builds', ...builds(data) },
    {
      ...{ id: 'drift', short: 'Compilers', title: 'Changes between compilers' },
      ...ofRecords(() => drift(data, facts)),
    },
    { id: 'next', short: 'Next steps', title: 'Next steps', ...next(facts) },
  ];
}

function gains({ records, faster, failed, default: kept, geometricMean }: Facts): string {
  if (geometricMean === null)
    return `The compiler's default is best for ${records === 1 ? 'the only record' : `all ${counted(kept, 'usable record')}`}.`;
  const unused = failed === 1 ? 'is not used because it' : 'are not used because they';
  return `${counted(faster, 'record')} of ${countText(records)} ${faster === 1 ? 'is' : 'are'} faster than the compiler's default, ${gainText(geometricMean)} in the geometric mean. For ${countText(kept)} the default is best${failed === 0 ? '' : `; ${countText(failed)} ${unused} failed`}.`;
}

function shapes({ kernels, records }: PageData): Content {
  if (kernels !== null)
    return {
      lede: `${counted(kernels.shapes.length, 'shape')} on ${kernels.device}, ${counted(kernels.threads, 'thread')}: medians of interleaved rounds. Longer is better. The line is the peak.`,
    };
  return {
    ...without(
      'A benchmark measures libraries, data tiling alone and the peak of the processor. Run it in a clone on this machine, then write the page again:',
      'npm run bench:kernels -- --json kernels.json\niree-tuned report --bench kernels.json -o report.html',
    ),
    lede: records.length === 0 ? '' : 'The records that save most time: default and tuned. Longer is better.',
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

function programs({ models }: PageData): Content {
  if (models === null || models.models.length === 0)
    return without(
      'A benchmark in a clone measures the gain of whole programs:',
      'npm run bench:models -- --json models.json\niree-tuned report --models models.json -o report.html',
    );
  const wrong = models.models.filter(({ equal }) => equal === false).length;
  return {
    lede: `${counted(models.models.length, 'model')} on ${models.device}, stock against tuned. ${wrong === 0 ? 'All results that could be compared are equal.' : `${counted(wrong, 'model')} with results that differ.`}`,
  };
}

function searches({ searchesLeftOut }: PageData, facts: Facts): Content {
  if (facts.searches === 0)
    return without(
      'The records have no trials: they were pruned, or came without trials from a team’s server or a file. Tune again to get trials:',
      'iree-tuned tune model.mlir --again',
    );
  const only =
    searchesLeftOut === 0
      ? ''
      : ` These records save most time. For others write the page with --workload, --device or --compiler.`;
  return {
    lede: `The best result so far of ${counted(facts.searches, 'search', 'searches')} with ${counted(facts.trials, 'trial')}. A line that rises late needed its budget. A flat line could have ended early.${only}`,
  };
}

function builds({ statistics: { compiles, hitRate, seconds }, history }: PageData): Content {
  if (compiles.all === 0)
    return without(
      'No build with this database and cache folder was counted yet. This command shows the counts at any time:',
      'iree-tuned stats',
    );
  const rate =
    hitRate === null
      ? 'had no operation to look up'
      : `found ${percentText(hitRate)} of their operations in the database`;
  return {
    ...(history.length === 0 &&
      without(
        'An earlier version counted these compiles without their days. New builds are counted by day.',
      )),
    lede: `${counted(compiles.all, 'compile')} ${rate}; ${formatDuration(seconds.tuning)} of tuning in builds.`,
  };
}

function drift({ places }: PageData, { compared }: Facts): Content {
  const isOne = new Set(places.map(({ compiler }) => compiler)).size === 1;
  if (compared === 0)
    return without(
      `All usable records are of ${isOne ? 'one compiler' : 'different workloads, targets or devices'}. Tune the same programs with another version, on the same machine and with the same database:`,
      'iree-tuned --compiler /path/to/other/iree-compile tune model.mlir',
    );
  return {
    lede: `${counted(compared, 'record')} can be compared with an earlier compiler, at the same workload, target and device. Times of different days also differ by the state of the machine, so a change of a few per cent says nothing.`,
  };
}

function next({ missing, incomplete, records }: Facts): Content {
  const open = [
    ...(missing === 0 ? [] : [`${counted(missing, 'workload')} without a record`]),
    ...(incomplete === 0 ? [] : [counted(incomplete, 'unfinished search', 'unfinished searches')]),
  ];
  if (open.length > 0) return { lede: `${open.join(', and ')}. Run each command on its device.` };
  return without(
    records === 0
      ? 'No build has missed a record yet. Builds with IREE_TUNED_ON_MISS=record note their misses here.'
      : 'Nothing is left: every search has ended, and no build has missed a record. Builds with IREE_TUNED_ON_MISS=record note their misses.',
  );
}
