// `iree-tuned stats`.
import type { Command as Program } from 'commander';
import { collectCounts, pendingCounts, sumOf, type Counts } from '../report/counting.ts';
import { statisticsOf, type Statistics } from '../report/statistics.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { formatDuration, formatSeconds } from '../system/format.ts';
import { wrapped } from '../report/text.ts';
import { isThere, openToLook, surroundingsOf } from './context.ts';
import { page, say } from './output.ts';
import { meaningOf } from '../system/reason.ts';

export async function showStats(
  options: { json?: boolean; zero?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const hasDatabase = isThere(surroundings);
  const counts =
    hasDatabase || options.zero === true
      ? await collected(surroundings, options.zero === true)
      : pendingCounts(surroundings.cacheDirectory);
  const statistics = statisticsOf(counts);
  const nowhere = hasDatabase ? '' : `, and there is no tuning database ${surroundings.settings.database}`;
  if (options.json === true) console.log(JSON.stringify(statistics, null, 2));
  else if (statistics.compiles.all === 0) say(`Nothing has been compiled yet${nowhere}.`);
  else console.log(describeStatistics(statistics, page.columns));
}

/** All counts there are, in the database from now on where that may be written. */
async function collected(surroundings: Surroundings, isZeroed: boolean): Promise<Counts> {
  const { cacheDirectory } = surroundings;
  const { store, isReadonly } = await openToLook(surroundings);
  if (!isReadonly) collectCounts(cacheDirectory, store);
  // Read and zeroed in one step: what another process adds meanwhile is counted before or after, never lost.
  const stored = isZeroed ? store.zeroCounters() : store.counters();
  store.close();
  return isReadonly ? sumOf([stored, pendingCounts(cacheDirectory)]) : stored;
}

/** A label, a value, and what is to be said about it. */
type Row = readonly [label: string, value: string, note?: string];

const GAP = 2;

/** Before what goes on from the line above. */
const CONTINUED = ' '.repeat(4);

/** For people: sections of aligned rows, in so many columns. */
export function describeStatistics(
  { compiles, routes, operations, hitRate, reasons, team, seconds }: Statistics,
  columns = Infinity,
): string {
  const looked = operations.hit + operations.tuned + operations.default;
  const why = (title: string, counts: Counts): Row[] => {
    const rows = Object.entries(counts).map(([reason, count]): Row => [
      `  ${meaningOf(reason)}`,
      String(count),
    ]);
    return rows.length === 0 ? [] : [[title, ''], ...rows];
  };
  const sections: Row[][] = [
    [
      ['compiles', String(compiles.all)],
      [
        '  with tuned code',
        String(compiles.tuned),
        Object.entries(routes)
          .map(([route, count]) => `by ${route}: ${count}`)
          .join(', '),
      ],
      ['  as iree-compile does them', String(compiles.unchanged)],
      ['  left untuned after a failure', String(compiles.fallback)],
    ],
    [
      ['operations', String(looked + operations.skipped)],
      ['  found in the database', String(operations.hit)],
      ['  tuned in the build', String(operations.tuned)],
      ['  left to the default', String(operations.default)],
      ['  skipped', String(operations.skipped)],
      ['  injected but not applied', String(operations.notApplied)],
      ...(hitRate === null
        ? []
        : [['hit rate', `${(hitRate * 100).toFixed(0)}%`, `of ${looked} that are not skipped`] as const]),
    ],
    why('why compiles were not changed', reasons.unchanged),
    why('why compiles were left untuned after all', reasons.fallback),
    why('why operations were left to the default', reasons.default),
    why('why operations were skipped', reasons.skipped),
    why('why programs were not verified', reasons.notVerified),
    Object.keys(team.asked).length === 0
      ? []
      : [
          ...why("the team's server, by compiles that something was missing for", team.asked),
          ['  records from there', String(team.found)],
          ...(team.ignored === 0
            ? []
            : [['  lines from there that were ignored', String(team.ignored)] as const]),
        ],
    [
      ['time', ''],
      ['  spent on tuning in builds', formatDuration(seconds.tuning)],
      ...(seconds.perRun === null ? [] : [savedRow(seconds.perRun)]),
    ],
  ];
  const rows = sections.flat();
  const widest = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const values = widest(1);
  const labels = Math.min(widest(0), columns - GAP - values);
  return sections
    .filter((section) => section.length > 0)
    .map((section) => section.map((row) => describeRow(row, labels, values, columns)).join('\n'))
    .join('\n\n');
}

/** A row with so many columns for its label and its value. A note that does not fit beside them goes below. */
function describeRow(
  [label, value, note = '']: Row,
  labels: number,
  values: number,
  columns: number,
): string {
  const lines = wrapped(label, labels, CONTINUED).split('\n');
  const last = `${lines.pop()!.padEnd(labels)}  ${value.padStart(values)}`;
  const whole = `${last}  ${note}`.trimEnd();
  if (whole.length <= columns) return [...lines, whole].join('\n');
  return [...lines, last.trimEnd(), wrapped(CONTINUED + note, columns, CONTINUED)].join('\n');
}

function savedRow({ default: before, tuned, saved }: NonNullable<Statistics['seconds']['perRun']>): Row {
  const note = `${formatSeconds(before)} -> ${formatSeconds(tuned)} (${(before / tuned).toFixed(2)}x) in the tuned operations of a program, on average`;
  return ['  saved per run, as measured', formatSeconds(saved), note];
}
