// `iree-tuned stats`
import { loggedBuilds, type LoggedBuild } from '../report/build-log.ts';
import { countsIn, sumOf, takeCounts, type Counts } from '../report/counting.ts';
import { statisticsOf, type Statistics } from '../report/counts.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { formatDuration, formatRatio, formatSeconds } from '../system/format.ts';
import { printable } from '../report/text.ts';
import { meaningOf } from '../system/reason.ts';
import { CliCommand, wholeNumber } from './command.ts';
import { isThere, openDatabase, openIfThere, requireDatabase } from './database.ts';
import { page, sentences } from './output.ts';

interface Options {
  /** True without a number. */
  readonly last?: number | true;
  readonly zero?: boolean;
}

export const stats = new CliCommand(
  'stats',
  'count the tuned compiles and the reasons of the others, or list the last builds',
)
  .option('--last [n]', 'list the last builds of this cache folder: 20 if no number is given', wholeNumber)
  .option('--zero', 'reset the totals to zero after printing them')
  .json()
  .examples(
    ['iree-tuned stats', 'totals over all builds'],
    ['iree-tuned stats --zero', 'print the totals and reset them'],
    ['iree-tuned stats --last', 'the last 20 builds, with the reason of each untuned operation'],
    ['iree-tuned stats --last 200 --json', 'for a script'],
  )
  .action(async ({ last, zero = false }: Options, command: CliCommand) => {
    const surroundings = command.surroundings();
    if (last === undefined) await showTotals(surroundings, zero, command);
    else {
      const { cacheDirectory } = surroundings;
      const builds = loggedBuilds(cacheDirectory, last === true ? 20 : last);
      command.print(builds, () =>
        builds.length === 0
          ? sentences(`${cacheDirectory} has no log of builds yet.`)
          : builds.map(describeBuild).join('\n'),
      );
    }
  });

async function showTotals(surroundings: Surroundings, isZeroed: boolean, command: CliCommand): Promise<void> {
  const hasDatabase = isThere(surroundings);
  const counts = isZeroed ? await zeroed(surroundings) : await allCounts(surroundings);
  const statistics = statisticsOf(counts);
  const nowhere = hasDatabase ? '' : `, and there is no tuning database ${surroundings.settings.database}`;
  command.print(statistics, () =>
    statistics.compiles.all === 0
      ? sentences(`Nothing has been compiled yet${nowhere}.`)
      : describeStatistics(statistics),
  );
}

async function allCounts(surroundings: Surroundings): Promise<Counts> {
  const store = await openIfThere(surroundings);
  const stored = store?.counters() ?? {};
  store?.close();
  return sumOf([stored, countsIn(surroundings.cacheDirectory)]);
}

/** Resets all counts. Returns the totals of before. */
async function zeroed(surroundings: Surroundings): Promise<Counts> {
  requireDatabase(surroundings);
  const store = await openDatabase(surroundings);
  // Earlier versions counted in the database.
  const stored = store.zeroCounters();
  store.close();
  return sumOf([stored, takeCounts(surroundings.cacheDirectory)]);
}

/** One line for the build, and one for each reason of an untuned part. */
function describeBuild({ at, input, again, counts }: LoggedBuild): string {
  const named = (beginning: string) =>
    Object.entries(counts).flatMap(([name, count]): [string, number][] =>
      name.startsWith(beginning) ? [[name.slice(beginning.length), count]] : [],
    );
  const [route] = named('route: ').map(([name]) => name);
  const operations = named('operations: ').map(([outcome, count]) => `${count} ${outcome}`);
  const parts = [route ?? 'not tuned', ...operations, ...(again ? ['as before'] : [])];
  const reasons = ['unchanged: ', 'fallback: ', 'default: ', 'skipped: ', 'not verified: '].flatMap(named);
  const time = at.slice(0, 19).replace('T', ' ');
  return [
    page.paint('bold', printable(`${time}  ${input}`)) + `  ${parts.join(', ')}`,
    ...reasons.map(([reason, count]) => `  ${count} x ${printable(meaningOf(reason))}`),
  ].join('\n');
}

/** A label, a value and a note about the value. */
type Row = readonly [label: string, value: number | string, note?: string];

/** Sections of aligned rows. */
export function describeStatistics({
  compiles,
  routes,
  operations,
  hits,
  hitRate,
  reasons,
  seconds,
}: Statistics): string {
  const looked = operations.hit + operations.tuned + operations.default;
  const byRoute = Object.entries(routes).map(([route, count]) => `by ${route}: ${count}`);
  const why = (title: string, counts: Counts): Row[] => {
    const rows = Object.entries(counts).map(([reason, count]): Row => [`  ${meaningOf(reason)}`, count]);
    return rows.length === 0 ? [] : [[title, ''], ...rows];
  };
  const sections: Row[][] = [
    [
      ['compiles', compiles.all],
      ['  with tuned code', compiles.tuned, byRoute.join(', ')],
      ['  unchanged', compiles.unchanged],
      ['  left untuned after a failure', compiles.fallback],
    ],
    [
      ['operations', looked + operations.skipped],
      ['  found', operations.hit],
      ...Object.entries(hits).map(([source, count]): Row => [`    ${source}`, count]),
      ['  tuned in the build', operations.tuned],
      ['  of these, nothing beats the default', operations.defaultKept],
      ['  left to the default for another reason', operations.default],
      ['  skipped', operations.skipped],
      ['  injected but not applied', operations.notApplied],
      ...(hitRate === null
        ? []
        : [['hit rate', `${(hitRate * 100).toFixed(0)}%`, `of ${looked} that are not skipped`] as const]),
    ],
    why('why compiles were not changed', reasons.unchanged),
    why('why compiles were left untuned after all', reasons.fallback),
    why('why operations were left to the default for another reason', reasons.default),
    why('why operations were skipped', reasons.skipped),
    why('why programs were not verified', reasons.notVerified),
    [
      ['time', ''],
      ['  spent on tuning in builds', formatDuration(seconds.tuning)],
      ...(seconds.perRun === null ? [] : [savedRow(seconds.perRun)]),
    ],
  ];
  const rows = sections.flat();
  const [labels, values] = [0, 1].map((column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const line = ([label, value, note = '']: Row) =>
    `${label.padEnd(labels!)}  ${String(value).padStart(values!)}  ${note}`.trimEnd();
  return sections
    .filter((section) => section.length > 0)
    .map((section) => section.map(line).join('\n'))
    .join('\n\n');
}

function savedRow({ default: before, tuned, saved }: NonNullable<Statistics['seconds']['perRun']>): Row {
  const note = `${formatSeconds(before)} -> ${formatSeconds(tuned)} (${formatRatio(before / tuned)}) in the tuned operations of a program, on average`;
  return ['  saved per run, as measured', formatSeconds(saved), note];
}
