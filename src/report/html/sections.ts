// The sections of the page: what each says at first sight, and, where something is missing, how to get it. Pure.
import { formatDuration } from '../../system/format.ts';
import type { PageData } from './data.ts';
import type { Facts } from './facts.ts';
import { counted, countText, gainText } from './numbers.ts';

export interface Section {
  readonly id: string;
  /** For the list of sections. */
  readonly short: string;
  readonly title: string;
  /** What it comes to; empty where there is nothing to say. */
  readonly lede: string;
  readonly missing: readonly Way[];
  /** Whether the script has something to draw there. */
  readonly isDrawn: boolean;
  /** Whether the page's filters choose what is drawn. */
  readonly isFiltered: boolean;
}

/** What is not there, and what to run for it. */
interface Way {
  readonly what: string;
  readonly command: string | null;
}

const NO_RECORDS: Way = {
  what: 'There are no records here yet. A build with iree-compile-tuned makes them, or tuning ahead of one:',
  command: 'iree-tuned tune model.mlir --budget 300',
};

export function sectionsOf(data: PageData, facts: Facts): Section[] {
  const hasRecords = facts.records > 0;
  return [
    gains(facts, hasRecords),
    shapes(data, hasRecords),
    {
      ...{ id: 'roofline', short: 'Roofline', title: 'How far from what the machine can do' },
      lede: hasRecords
        ? 'Each workload at its arithmetic intensity: under the sloped roof it waits for memory, under the flat one for the arithmetic units.'
        : '',
      missing: hasRecords ? [] : [NO_RECORDS],
      ...{ isDrawn: hasRecords, isFiltered: true },
    },
    programs(data),
    {
      ...{ id: 'records', short: 'Records', title: 'All records' },
      lede: hasRecords ? `${counted(facts.records, 'record')}; the filters above choose among them.` : '',
      missing: hasRecords ? [] : [NO_RECORDS],
      ...{ isDrawn: hasRecords, isFiltered: true },
    },
    searches(data, facts, hasRecords),
    builds(data),
    drift(data, facts, hasRecords),
    next(facts),
  ];
}

function gains(facts: Facts, hasRecords: boolean): Section {
  const { faster, failed, geometricMean } = facts;
  const lede =
    geometricMean === null
      ? `The compiler's default is best for ${facts.records === 1 ? 'the only record' : `all ${counted(facts.default, 'record')} that may be used`}.`
      : `${counted(faster, 'record')} of ${countText(facts.records)} ${faster === 1 ? 'is' : 'are'} faster than the compiler's default, ${gainText(geometricMean)} in the geometric mean. For ${countText(facts.default)} the default is best already${failed === 0 ? '' : `; ${countText(failed)} must not be used`}.`;
  return {
    ...{ id: 'gains', short: 'Gains', title: 'What was gained, and where', lede: hasRecords ? lede : '' },
    missing: hasRecords ? [] : [NO_RECORDS],
    ...{ isDrawn: hasRecords, isFiltered: true },
  };
}

function shapes({ kernels }: PageData, hasRecords: boolean): Section {
  const way: Way = {
    what: 'Libraries, data tiling alone and the peak of the processor are measured by a benchmark. Run it on the machine in question, then write this page again:',
    command:
      'npm run bench:kernels -- --json kernels.json\niree-tuned report --bench kernels.json -o report.html',
  };
  return {
    ...{ id: 'shapes', short: 'Shapes', title: 'Shape by shape, against libraries and the peak' },
    lede:
      kernels !== null
        ? `${counted(kernels.shapes.length, 'shape')} on ${kernels.device}, ${counted(kernels.threads, 'thread')}: medians of interleaved rounds. Longer is better; nothing can pass the line of the peak.`
        : hasRecords
          ? 'The records that save most time, with the default and as tuned. Longer is better.'
          : '',
    missing: kernels === null ? [way] : [],
    ...{ isDrawn: kernels !== null || hasRecords, isFiltered: kernels === null },
  };
}

function programs({ models }: PageData): Section {
  const common = { id: 'programs', short: 'Programs', title: 'Whole programs', isFiltered: false };
  if (models === null || models.models.length === 0)
    return {
      ...common,
      lede: '',
      missing: [
        {
          what: 'What the gains of single operations come to in a program is measured by a benchmark of whole models:',
          command:
            'npm run bench:models -- --json models.json\niree-tuned report --models models.json -o report.html',
        },
      ],
      isDrawn: false,
    };
  const wrong = models.models.filter(({ equal }) => equal === false).length;
  return {
    ...common,
    lede: `${counted(models.models.length, 'model')} on ${models.device}, stock against tuned. ${wrong === 0 ? 'All results that could be compared are equal.' : `${counted(wrong, 'model')} with results that differ.`}`,
    missing: [],
    isDrawn: true,
  };
}

function searches(data: PageData, facts: Facts, hasRecords: boolean): Section {
  const common = { id: 'searches', short: 'Searches', title: 'How the searches went', isFiltered: true };
  if (!hasRecords) return { ...common, lede: '', missing: [NO_RECORDS], isDrawn: false };
  if (facts.searches === 0)
    return {
      ...common,
      lede: '',
      missing: [
        {
          what: 'The records are here without their trials: they were pruned, or came from a team’s server or a file without them. Tuning again writes trials:',
          command: 'iree-tuned tune model.mlir --again',
        },
      ],
      isDrawn: false,
    };
  const only =
    data.searchesLeftOut === 0
      ? ''
      : ` These are the records that save most; for others write the page with --workload, --device or --compiler.`;
  return {
    ...common,
    lede: `The best so far, trial by trial, of ${counted(facts.searches, 'search', 'searches')} with ${counted(facts.trials, 'trial')}. A line that rises late needed its budget; one that is flat could have ended early.${only}`,
    missing: [],
    isDrawn: true,
  };
}

function builds({ statistics, history }: PageData): Section {
  const common = { id: 'builds', short: 'Builds', title: 'What builds found', isFiltered: false };
  const { compiles, hitRate, seconds } = statistics;
  if (compiles.all === 0)
    return {
      ...common,
      lede: '',
      missing: [
        {
          what: 'Nothing has been compiled with this database and cache folder since counting began. Builds count themselves; this shows the numbers at any time:',
          command: 'iree-tuned stats',
        },
      ],
      isDrawn: false,
    };
  const rate =
    hitRate === null
      ? 'had nothing to look up'
      : `found ${(100 * hitRate).toFixed(0)}% of their operations in the database`;
  return {
    ...common,
    lede: `${counted(compiles.all, 'compile')} ${rate}; ${formatDuration(seconds.tuning)} of tuning in builds.`,
    missing:
      history.length === 0
        ? [
            {
              what: 'The days of these compiles are not known: they were counted by an earlier version. Those of builds from now on are.',
              command: null,
            },
          ]
        : [],
    isDrawn: true,
  };
}

function drift(data: PageData, facts: Facts, hasRecords: boolean): Section {
  const common = {
    id: 'drift',
    short: 'Compilers',
    title: 'From one compiler to the next',
    isFiltered: false,
  };
  if (facts.compared === 0)
    return {
      ...common,
      lede: '',
      missing: [
        hasRecords
          ? {
              what: `All records that can be compared are of ${new Set(data.places.map(({ compiler }) => compiler)).size === 1 ? 'one compiler' : 'different workloads, targets or devices'}. Tune the same programs with another version, on the same machine and with the same database:`,
              command: 'iree-tuned --compiler /path/to/other/iree-compile tune model.mlir',
            }
          : NO_RECORDS,
      ],
      isDrawn: false,
    };
  return {
    ...common,
    lede: `${counted(facts.compared, 'record')} of the same workload, target and device as one of the compiler before. Times of different days differ by the state of the machine, too: a change of a few per cent is none.`,
    missing: [],
    isDrawn: true,
  };
}

function next({ missing, incomplete, records }: Facts): Section {
  const isDone = missing + incomplete === 0;
  const open = [
    ...(missing === 0 ? [] : [`${counted(missing, 'workload')} that builds asked for in vain`]),
    ...(incomplete === 0 ? [] : [`${counted(incomplete, 'search', 'searches')} that did not end`]),
  ];
  const nothing =
    records === 0
      ? 'No build has asked for anything in vain yet. Builds with IREE_TUNED_ON_MISS=record note here what they miss.'
      : 'Nothing is left: every search has ended, and no build has asked for something that is not here. Builds with IREE_TUNED_ON_MISS=record note what they miss.';
  return {
    ...{ id: 'next', short: 'What next', title: 'What to do next', isFiltered: false },
    lede: isDone ? '' : `${open.join(', and ')}. Run the commands on the device that they name.`,
    missing: isDone ? [{ what: nothing, command: null }] : [],
    isDrawn: !isDone,
  };
}
