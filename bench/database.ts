// The size of a large database, and the time of look-ups.
import { once } from 'node:events';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { configurationText } from '../src/backend/index.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite.ts';
import { preparedOnce } from '../src/store/sqlite/connect.ts';
import * as sql from '../src/store/sqlite/statements.ts';
import { Rows } from '../src/store/sqlite/write.ts';
import { seededRandom } from '../src/search/strategy.ts';
import { table } from '../src/report/table.ts';
import {
  BenchError,
  jsonFile,
  readArguments,
  refusePositionals,
  run,
  say,
  UsageError,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import {
  claimOf,
  configurationOf,
  EVIDENCE,
  FORM,
  ORIGIN,
  percentiles,
  PLACE,
  subjectOf,
  workloadOf,
} from './shared/made-up.ts';
import { aboutRun, temporaryFolder } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:database -- [--records N] [--trials N] [--rounds N] [--db FILE] [--json FILE]

  --records  records in the database, one for each workload (default 1000000)
  --trials   trials in the database, 200 for each workload (default 5000000)
  --rounds   look-ups of each kind (default 2000)
  --db       file of the database, which is kept; an existing file must have the same numbers
  --json     also write all values to FILE`;

const TRIALS_OF_EACH = 200;
const KEYS_OF_A_BUILD = 50;
/** Rows of one transaction. */
const BATCH = 50_000;

const FORMS = { targetForm: FORM, deviceForm: FORM, compilerForm: FORM };

/**
 * Writes the rows of a store in large transactions, because a store writes one entry per transaction.
 * @returns seconds, and bytes of the file, after the records and after the trials
 */
function fill(path: string, records: number, trials: number) {
  openSqliteStore(path).close();
  const db = new Database(path);
  db.pragma('synchronous = OFF');
  const statement = preparedOnce(db);
  const rows = new Rows(statement);
  const inBatches = (what: string, count: number, insert: (n: number) => void) => {
    const begun = performance.now();
    for (let from = 0; from < count; from += BATCH) {
      db.transaction(() => {
        for (let n = from; n < Math.min(count, from + BATCH); n++) insert(n);
      })();
      if ((from / BATCH) % 10 === 9) say(`${from + BATCH} ${what} ...`);
    }
    db.pragma('wal_checkpoint(TRUNCATE)');
    return { seconds: (performance.now() - begun) / 1000, bytes: statSync(path).size };
  };
  const withRecords = inBatches('records', records, (n) => {
    const { digest, configuration } = claimOf(n);
    const subject = rows.insertSubject({ ...subjectOf(n), ...FORMS, workloadForm: workloadOf(n) });
    if (subject !== n + 1) throw new BenchError(`the database ${path} is not a new one`);
    statement(sql.PUT_CLAIM).run({
      ...{ ...EVIDENCE, families: JSON.stringify(EVIDENCE.families), complete: 1 },
      ...{ subject, configuration: configurationText(configuration), ...ORIGIN },
      digest,
    });
  });
  const random = seededRandom(1);
  const withAll = inBatches('trials', trials, (n) => {
    const part = () => Math.floor(random() * 2 ** 32);
    const id = [part(), part(), part(), part()].map((one) => one.toString(16).padStart(8, '0')).join('');
    statement(sql.INSERT_TRIAL).run({
      ...{ id, subject: 1 + Math.floor(n / TRIALS_OF_EACH) },
      ...{ configuration: configurationText(configurationOf(n)), outcome: 'measured', message: null },
      ...{ seconds: 0.001 + (n % 1000) / 1e6, ratio: 1 + (n % 100) / 100 },
      ...{ strategy: 'descent', ...ORIGIN },
    });
  });
  db.close();
  return { withRecords, withAll };
}

/** Milliseconds of each round. The store answers at once, so no round waits for anything. */
function timedRounds(rounds: number, action: (round: number) => void): number[] {
  // Warm-up.
  for (let round = 0; round < Math.min(rounds, 200); round++) action(rounds + round);
  return Array.from({ length: rounds }, (_, round) => {
    const begun = performance.now();
    action(round);
    return performance.now() - begun;
  });
}

function lookUp(path: string, records: number, trials: number, rounds: number) {
  const random = seededRandom(2);
  const below = (count: number) => Math.floor(random() * count);
  const keys = (count: number) => Array.from({ length: count }, () => subjectOf(below(records)).workload);
  const found = (store: ReturnType<typeof openSqliteStore>, workloads: readonly string[]) => {
    const { length } = store.findRecords(workloads, PLACE.target, PLACE.compiler);
    if (length !== new Set(workloads).size)
      throw new BenchError(`of ${workloads.length} workloads, ${length} were found`);
  };
  const store = openSqliteStore(path);
  const asked = Array.from({ length: 2 * rounds + 200 }, () => keys(1));
  const builds = Array.from({ length: 2 * rounds + 200 }, () => keys(KEYS_OF_A_BUILD));
  const one = timedRounds(rounds, (round) => {
    found(store, asked[round]!);
  });
  const fifty = timedRounds(rounds, (round) => {
    found(store, builds[round]!);
  });
  const searches = timedRounds(Math.ceil(rounds / 10), () => {
    const subject = subjectOf(below(Math.ceil(trials / TRIALS_OF_EACH)));
    if (store.trials(subject).length !== Math.min(trials, TRIALS_OF_EACH))
      throw new BenchError(`the trials of ${subject.workload} are not all there`);
  });
  const alike = timedRounds(rounds, () => {
    const n = below(Math.ceil(trials / TRIALS_OF_EACH));
    const subject = { ...subjectOf(n), ...FORMS, workloadForm: workloadOf(n) };
    if (store.trialsLike(subject, [PLACE.device]).length === 0)
      throw new BenchError(`nothing is like ${subject.workload}`);
  });
  store.close();
  const opened = timedRounds(Math.ceil(rounds / 10), (round) => {
    const own = openSqliteStore(path);
    found(own, asked[round]!);
    own.close();
  });
  return { one, fifty, searches, alike, opened };
}

async function main(): Promise<void> {
  const args = readArguments(['records', 'trials', 'rounds', 'db', 'json'], USAGE);
  refusePositionals(args);
  const records = wholeNumber(args, 'records', 1_000_000);
  const trials = wholeNumber(args, 'trials', 5_000_000);
  const rounds = wholeNumber(args, 'rounds', 2000);
  if (trials > records * TRIALS_OF_EACH || trials % TRIALS_OF_EACH !== 0)
    throw new UsageError(
      `--trials ${trials}: it takes a multiple of ${TRIALS_OF_EACH}, at most ${TRIALS_OF_EACH} for each record`,
    );
  const path = args.options['db'] ?? join(temporaryFolder(), 'tuning.db');
  const json = jsonFile(args);
  const about = aboutRun('database', 'local-sync', {});

  const filled = existsSync(path) ? null : fill(path, records, trials);
  // Bring the file into memory, so that the disk's speed does not matter.
  await once(createReadStream(path, { highWaterMark: 2 ** 22 }).resume(), 'end');
  say(`${rounds} look-ups of each kind ...`);
  const times = lookUp(path, records, trials, rounds);
  console.log(
    table(
      ['what', 'median', '99th percentile'],
      [
        [`the record of one workload, of ${records}`, ...percentiles(times.one)],
        [`the records of ${KEYS_OF_A_BUILD} workloads`, ...percentiles(times.fifty)],
        ['one record, with opening and closing', ...percentiles(times.opened)],
        [`all trials of one workload, of ${trials}`, ...percentiles(times.searches)],
        ['the fastest trials of similar workloads', ...percentiles(times.alike)],
      ],
    ),
  );
  if (filled !== null) {
    const { withRecords, withAll } = filled;
    const size = (bytes: number, count: number) => [
      `${(bytes / 1e6).toFixed(0)} MB`,
      (bytes / count).toFixed(0),
    ];
    console.log(
      `\n${table(
        ['what', 'size', 'bytes each'],
        [
          [`${records} records`, ...size(withRecords.bytes, records)],
          [`${trials} trials`, ...size(withAll.bytes - withRecords.bytes, trials)],
        ],
      )}`,
    );
  }
  writeJson(json, { ...about, options: { records, trials, rounds }, results: { filled, times } });
}

await run('bench:database', main);
