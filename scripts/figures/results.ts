// The figures of the project: bench/results.json has the values, bench/RESULTS.md shows them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
export const VALUES = join(root, 'bench', 'results.json');
export const PAGE = join(root, 'bench', 'RESULTS.md');

export type Row = Readonly<Record<string, string | number>>;

/** One measured table. */
export interface Run {
  readonly id: string;
  readonly title: string;
  readonly command: string;
  /** ISO 8601, the day. */
  readonly date: string;
  readonly machine: string;
  readonly threads: string;
  readonly iree: string;
  /** Of this project, at the time. */
  readonly commit: string;
  readonly note?: string;
  /** Columns are the keys of the first row, with their unit. Without rows, the bench was not run. */
  readonly rows: readonly Row[];
}

export const readRuns = (): readonly Run[] => JSON.parse(readFileSync(VALUES, 'utf8')) as readonly Run[];

/** @throws Error if no run has this id */
export function runOf(id: string): Run {
  const run = readRuns().find((one) => one.id === id);
  if (run === undefined) throw new Error(`bench/results.json has no run "${id}"`);
  return run;
}

/** Three significant digits; large numbers as they are. */
const cell = (value: string | number = ''): string =>
  typeof value === 'string' || value >= 100 ? String(value) : String(Number(value.toPrecision(3)));

export function tableOf(rows: readonly Row[], columns = Object.keys(rows[0] ?? {})): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    `|${columns.map((column) => (typeof rows[0]?.[column] === 'number' ? '---:|' : '---|')).join('')}`,
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
  ].join('\n');
}

/** Machine, threads and the rest of a run in one line. */
export const originOf = ({ date, machine, threads, iree, commit, command }: Run): string =>
  `${date}, ${machine}, threads: ${threads}, IREE ${iree}, commit ${commit}, \`${command}\`.`;

export const pageOf = (runs: readonly Run[]): string =>
  [
    '# Results',
    'The figures of this project. `npm run bench:results` makes this page from `bench/results.json`; other pages quote from here. A commit is ' +
      "that of the main branch at the time of the measurement. Compare figures of one table only: tables differ in machine and time.\n\nGains are stock's time divided by the tuned time.",
    ...runs.flatMap((run) => [
      `## ${run.title}`,
      ...(run.rows.length === 0
        ? [`Not run. \`${run.command}\` measures it.`]
        : [originOf(run), ...(run.note === undefined ? [] : [run.note]), tableOf(run.rows)]),
    ]),
  ].join('\n\n') + '\n';
