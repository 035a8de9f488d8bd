// The sections of the page: the text of each, and commands for missing data. Pure.
import { countText, counted, formatDuration } from '../../system/format.ts';
import type { PageData } from './data.ts';
import type { Facts } from './facts.ts';
import { gainText } from './numbers.ts';

export interface Section {
  readonly id: string;
  /** Name in the list of sections. */
  readonly short: string;
  readonly title: string;
  /** Summary; empty without data. */
  readonly lede: string;
  readonly missing: readonly Way[];
  /** Whether the script draws into the section. */
  readonly isDrawn: boolean;
  /** Whether the page's filters apply. */
  readonly isFiltered: boolean;
}

/** Missing data, and the command that makes it. */
interface Way {
  readonly what: string;
  readonly command: string | null;
}

const NO_RECORDS: Way = {
  what: 'There are no records yet. Build with iree-compile-tuned, or tune ahead of a build:',
  command: 'iree-tuned tune model.mlir --budget 300',
};

export function sectionsOf(data: PageData, facts: Facts): Section[] {
  const hasRecords = facts.records > 0;
  return [
    gains(facts, hasRecords),
    shapes(data, hasRecords),
    {
      ...{ id: 'roofline', short: 'Roofline', title: 'Distance from the limits of the machine' },
      lede: hasRecords
        ? 'Each workload at its arithmetic intensity. Under the sloped roof memory limits it, under the flat roof the arithmetic units do.'
        : '',
      missing: hasRecords ? [] : [NO_RECORDS],
      ...{ isDrawn: hasRecords, isFiltered: true },
    },
    programs(data),
    {
      ...{ id: 'records', short: 'Records', title: 'All records' },
      lede: hasRecords ? `${counted(facts.records, 'record')}; the filters above select records.` : '',
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
      ? `The compiler's default is best for ${facts.records === 1 ? 'the only record' : `all ${counted(facts.default, 'usable record')}`}.`
      : `${counted(faster, 'record')} of ${countText(facts.records)} ${faster === 1 ? 'is' : 'are'} faster than the compiler's default, ${gainText(geometricMean)} in the geometric mean. For ${countText(facts.default)} the default is best${failed === 0 ? '' : `; ${countText(failed)} ${failed === 1 ? 'is not used because it' : 'are not used because they'} failed`}.`;
  return {
    ...{ id: 'gains', short: 'Gains', title: 'Gains', lede: hasRecords ? lede : '' },
    missing: hasRecords ? [] : [NO_RECORDS],
    ...{ isDrawn: hasRecords, isFiltered: true },
  };
}

function shapes({ kernels }: PageData, hasRecords: boolean): Section {
  const way: Way = {
    what: 'A benchmark measures libraries, data tiling alone and the peak of the processor. Run it in a clone on this machine, then write the page again:',
    command:
      'npm run bench:kernels -- --json kernels.json\niree-tuned report --bench kernels.json -o report.html',
  };
  return {
    ...{ id: 'shapes', short: 'Shapes', title: 'Shapes, against libraries and the peak' },
    lede:
      kernels !== null
        ? `${counted(kernels.shapes.length, 'shape')} on ${kernels.device}, ${counted(kernels.threads, 'thread')}: medians of interleaved rounds. Longer is better. The line is the peak.`
        : hasRecords
          ? 'The records that save most time: default and tuned. Longer is better.'
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
          what: 'A benchmark in a clone measures the gain of whole programs:',
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
  const common = { id: 'searches', short: 'Searches', title: 'Searches, trial by trial', isFiltered: true };
  if (!hasRecords) return { ...common, lede: '', missing: [NO_RECORDS], isDrawn: false };
  if (facts.searches === 0)
    return {
      ...common,
      lede: '',
      missing: [
        {
          what: 'The records have no trials: they were pruned, or came without trials from a team’s server or a file. Tune again to get trials:',
          command: 'iree-tuned tune model.mlir --again',
        },
      ],
      isDrawn: false,
    };
  const only =
    data.searchesLeftOut === 0
      ? ''
      : ` These records save most time. For others write the page with --workload, --device or --compiler.`;
  return {
    ...common,
    lede: `The best result so far of ${counted(facts.searches, 'search', 'searches')} with ${counted(facts.trials, 'trial')}. A line that rises late needed its budget. A flat line could have ended early.${only}`,
    missing: [],
    isDrawn: true,
  };
}

function builds({ statistics, history }: PageData): Section {
  const common = { id: 'builds', short: 'Builds', title: 'Builds', isFiltered: false };
  const { compiles, hitRate, seconds } = statistics;
  if (compiles.all === 0)
    return {
      ...common,
      lede: '',
      missing: [
        {
          what: 'No build with this database and cache folder was counted yet. This command shows the counts at any time:',
          command: 'iree-tuned stats',
        },
      ],
      isDrawn: false,
    };
  const rate =
    hitRate === null
      ? 'had no operation to look up'
      : `found ${(100 * hitRate).toFixed(0)}% of their operations in the database`;
  return {
    ...common,
    lede: `${counted(compiles.all, 'compile')} ${rate}; ${formatDuration(seconds.tuning)} of tuning in builds.`,
    missing:
      history.length === 0
        ? [
            {
              what: 'An earlier version counted these compiles without their days. New builds are counted by day.',
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
    title: 'Changes between compilers',
    isFiltered: false,
  };
  if (facts.compared === 0)
    return {
      ...common,
      lede: '',
      missing: [
        hasRecords
          ? {
              what: `All usable records are of ${new Set(data.places.map(({ compiler }) => compiler)).size === 1 ? 'one compiler' : 'different workloads, targets or devices'}. Tune the same programs with another version, on the same machine and with the same database:`,
              command: 'iree-tuned --compiler /path/to/other/iree-compile tune model.mlir',
            }
          : NO_RECORDS,
      ],
      isDrawn: false,
    };
  return {
    ...common,
    lede: `${counted(facts.compared, 'record')} can be compared with an earlier compiler, at the same workload, target and device. Times of different days also differ by the state of the machine, so a change of a few per cent says nothing.`,
    missing: [],
    isDrawn: true,
  };
}

function next({ missing, incomplete, records }: Facts): Section {
  const isDone = missing + incomplete === 0;
  const open = [
    ...(missing === 0 ? [] : [`${counted(missing, 'workload')} without a record`]),
    ...(incomplete === 0 ? [] : [counted(incomplete, 'unfinished search', 'unfinished searches')]),
  ];
  const nothing =
    records === 0
      ? 'No build has missed a record yet. Builds with IREE_TUNED_ON_MISS=record note their misses here.'
      : 'Nothing is left: every search has ended, and no build has missed a record. Builds with IREE_TUNED_ON_MISS=record note their misses.';
  return {
    ...{ id: 'next', short: 'Next steps', title: 'Next steps', isFiltered: false },
    lede: isDone ? '' : `${open.join(', and ')}. Run each command on its device.`,
    missing: isDone ? [{ what: nothing, command: null }] : [],
    isDrawn: !isDone,
  };
}
