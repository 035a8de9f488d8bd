// `iree-tuned stats`
import { forgetBuilds, loggedBuilds, type LoggedBuild } from '../report/build-log.ts';
import { statisticsOf, sumOfCounts, type Counts, type Statistics } from '../report/counts.ts';
import { formatDuration, formatRatio, formatSeconds, percent } from '../system/format.ts';
import { printable } from '../report/text.ts';
import { meaningOf } from '../system/reason.ts';
import { CliCommand, wholeNumber } from './command.ts';
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
  .option('--zero', 'forget all builds after printing their totals')
  .json()
  .examples(
    ['iree-tuned stats', 'totals over all builds in the log of this cache folder'],
    ['iree-tuned stats --zero', 'print the totals and reset them'],
    ['iree-tuned stats --last', 'the last 20 builds, with the reason of each untuned operation'],
    ['iree-tuned stats --last 200 --json', 'for a script'],
  )
  .action(({ last, zero = false }: Options, command: CliCommand) => {
    const { cacheDirectory } = command.surroundings();
    const isOfLast = last !== undefined;
    const builds = loggedBuilds(cacheDirectory, last === true ? 20 : last);
    const totals = statisticsOf(sumOfCounts(builds.map(({ counts }) => counts)));
    if (zero && !isOfLast) forgetBuilds(cacheDirectory);
    command.print(isOfLast ? builds : totals, () => {
      if (builds.length === 0) return sentences(`${cacheDirectory} has no log of builds yet.`);
      return isOfLast ? builds.map(describeBuild).join('\n') : describeStatistics(totals);
    });
  });

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
        : [['hit rate', percent(hitRate), `of ${looked} that are not skipped`] as const]),
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
