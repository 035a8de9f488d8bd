// Load on a team's server: queries, many writers with pullers, and many trials.
import type { ClaimLine, PartLine, TrialLine } from '../src/store/exchange/lines.ts';
import { table } from '../src/report/table.ts';
import { startServer, type TestDatabase } from '../test/support/postgres.ts';
import { openTeam } from '../src/team/postgres.ts';
import type { Answer, Cursor, Page, Team } from '../src/team/team.ts';
import {
  BenchError,
  jsonFile,
  readArguments,
  refusePositionals,
  run,
  say,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import {
  claimOf,
  configurationOf,
  FORM,
  ORIGIN,
  percentiles,
  PLACE,
  subjectOf,
  timed,
  workloadOf,
} from './shared/made-up.ts';
import { LIMIT_MS, requirePostgres, teamDatabase } from './shared/team-database.ts';
import { aboutRun } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:team -- [--writers N] [--records N] [--pullers N] [--rounds N] [--trials N] [--json FILE]

  --writers  connections that push at the same time (default 64)
  --records  records of each writer (default 1000)
  --pullers  connections that pull at the same time (default 4)
  --rounds   queries of each kind (default 200)
  --trials   trials to load and look up (default 50000)
  --json     also write all values to FILE`;

/** Lines of one push. */
const BATCH = 50;
const TRIAL_BATCH = 2000;
/** Numbers of subjects and configurations of the trials. */
const TRIAL_SUBJECTS = 500;
const TRIAL_CONFIGURATIONS = 200;
const KEYS_ASKED = 50;

const workloadLine = (n: number): PartLine => ({
  type: 'workload',
  version: 1,
  key: subjectOf(n).workload,
  form: JSON.parse(JSON.stringify(workloadOf(n))) as unknown,
});
const PARTS: readonly PartLine[] = (['target', 'device', 'compiler'] as const).map((type) => ({
  type,
  version: 1,
  key: PLACE[type],
  form: FORM,
}));

const claimLine = (n: number): ClaimLine => ({ type: 'claim', version: 1, ...claimOf(n) });

function trialLine(n: number): TrialLine {
  const hasFailed = n % 20 === 0;
  return {
    ...{ type: 'trial', version: 1, ...subjectOf(1 + (n % TRIAL_SUBJECTS)) },
    id: n.toString(16).padStart(32, '0'),
    configuration: configurationOf(n % TRIAL_CONFIGURATIONS),
    outcome: hasFailed ? 'compile-error' : 'measured',
    seconds: hasFailed ? null : 0.001 + (n % 1000) / 1e6,
    ratio: hasFailed ? null : 1 + (n % 100) / 100,
    message: hasFailed ? 'error: no such thing' : null,
    strategy: 'descent',
    ...ORIGIN,
    runs: [],
  };
}

async function given<T>(answer: Promise<Answer<T>>): Promise<T> {
  const got = await answer;
  if (got.ok) return got.value;
  throw new BenchError(got.failure.reason);
}

/** Runs writers and pullers at the same time. Counts the claims that each puller received, and those it received twice. */
async function writeAndPull(url: string, writers: number, records: number, pullers: number) {
  let writing = true;
  const begun = performance.now();
  const write = async (writer: number) => {
    const team = openTeam(url, {});
    for (let i = 0; i < records; i += BATCH) {
      const numbers = Array.from(
        { length: Math.min(BATCH, records - i) },
        (_, j) => writer * records + i + j + 1,
      );
      await given(
        team.push([...PARTS, ...numbers.flatMap((n) => [workloadLine(n), claimLine(n)])], LIMIT_MS),
      );
    }
    team.close();
  };
  const pull = async () => {
    const team = openTeam(url, {});
    const seen = new Map<string, number>();
    let [pages, received] = [0, 0];
    let cursor: Cursor | null = null;
    for (let isLast = false; ;) {
      const page: Page = await given(team.pull(PLACE, cursor, LIMIT_MS));
      for (const line of page.lines)
        if (line.type === 'claim') seen.set(line.workload, (seen.get(line.workload) ?? 0) + 1);
      pages++;
      received += page.lines.length;
      cursor = page.cursor;
      if (page.more) continue;
      if (isLast) break;
      isLast = !writing;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    team.close();
    return {
      pages,
      received,
      claims: seen.size,
      doubled: [...seen.values()].filter((count) => count > 1).length,
    };
  };
  const pulling = Array.from({ length: pullers }, pull);
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  writing = false;
  const seconds = (performance.now() - begun) / 1000;
  return { seconds, pulled: await Promise.all(pulling) };
}

/** Milliseconds of queries for `KEYS_ASKED` known workloads, on an open and on a new connection. */
async function ask(url: string, rounds: number, claims: number) {
  const question = (round: number) => ({
    ...PLACE,
    workloads: Array.from(
      { length: KEYS_ASKED },
      (_, i) => subjectOf(1 + ((round * 997 + i * 131) % claims)).workload,
    ),
  });
  const check = async (team: Team, round: number) => {
    const { lines, ignored } = await given(team.ask(question(round), LIMIT_MS));
    const count = lines.filter(({ type }) => type === 'claim').length;
    if (count !== KEYS_ASKED || ignored > 0)
      throw new BenchError(`${KEYS_ASKED} were asked for, and ${count} came`);
  };
  const warm = openTeam(url, {});
  await check(warm, 0);
  const times = { warm: [] as number[], cold: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.warm.push(await timed(() => check(warm, round)));
    const cold = openTeam(url, {});
    times.cold.push(await timed(() => check(cold, round)));
    cold.close();
  }
  warm.close();
  return times;
}

async function loadTrials(database: TestDatabase, url: string, count: number, rounds: number) {
  const team = openTeam(url, {});
  const workloads = Array.from({ length: TRIAL_SUBJECTS }, (_, n) => workloadLine(n + 1));
  await given(team.push([...PARTS, ...workloads], LIMIT_MS));
  const begun = performance.now();
  for (let n = 0; n < count; n += TRIAL_BATCH) {
    const lines = Array.from({ length: Math.min(TRIAL_BATCH, count - n) }, (_, i) => trialLine(n + i));
    const { changed } = await given(team.push(lines, LIMIT_MS));
    if (changed.trials !== lines.length)
      throw new BenchError(`${lines.length} were pushed, and ${changed.trials} were new`);
    if ((n / TRIAL_BATCH) % 100 === 99) say(`${n + TRIAL_BATCH} trials ...`);
  }
  const seconds = (performance.now() - begun) / 1000;
  await database.query('ANALYZE');
  const lookups: number[] = [];
  for (let round = 0; round < Math.min(rounds, 50); round++) {
    const subject = subjectOf(1 + ((round * 37) % TRIAL_SUBJECTS));
    lookups.push(await timed(() => given(team.trials(subject, LIMIT_MS))));
  }
  const [sizes] = await database.query(
    `SELECT sum(pg_relation_size(inhrelid))::float8 AS rows, sum(pg_indexes_size(inhrelid))::float8 AS index
     FROM pg_inherits WHERE inhparent = 'iree_tuned.trial'::regclass`,
  );
  team.close();
  const { rows, index } = sizes as { rows: number; index: number };
  return { seconds, lookups, bytesPerTrial: { rows: rows / count, index: index / count } };
}

async function main(): Promise<void> {
  const args = readArguments(['writers', 'records', 'pullers', 'rounds', 'trials', 'json'], USAGE);
  refusePositionals(args);
  requirePostgres();
  const writers = wholeNumber(args, 'writers', 64);
  const records = wholeNumber(args, 'records', 1000);
  const pullers = wholeNumber(args, 'pullers', 4);
  const rounds = wholeNumber(args, 'rounds', 200);
  const trials = wholeNumber(args, 'trials', 50_000);
  const json = jsonFile(args);

  const about = aboutRun('team', 'local-sync', {});
  const server = await startServer();
  const database = await teamDatabase(server);
  const url = await database.login('bench', { in: 'iree_tuned_worker' });

  say(`${writers} writers of ${records} records each, ${pullers} pullers ...`);
  const claims = writers * records;
  const written = await writeAndPull(url, writers, records, pullers);
  const [stored] = await database.query('SELECT count(*)::int AS claims FROM iree_tuned.claim');
  say(`${rounds} queries of each kind ...`);
  const asked = await ask(url, rounds, claims);
  say(`${trials} trials ...`);
  const loaded = await loadTrials(database, url, trials, rounds);
  const [version] = await database.query('SELECT version()');
  await server.stop();

  const missed = written.pulled.reduce((sum, pulled) => sum + claims - pulled.claims, 0);
  const doubled = written.pulled.reduce((sum, pulled) => sum + pulled.doubled, 0);
  const lost = claims - (stored as { claims: number }).claims;
  console.log(
    table(
      ['what', 'median', '99th percentile'],
      [
        [`query ${KEYS_ASKED} workloads of ${claims}, connected`, ...percentiles(asked.warm)],
        ['the same, with connection and login', ...percentiles(asked.cold)],
        [`all trials of one of ${TRIAL_SUBJECTS} workloads, of ${trials}`, ...percentiles(loaded.lookups)],
      ],
    ),
  );
  console.log(
    `\n${table(
      ['what', 'count', 'per second'],
      [
        [
          `records pushed by ${writers} writers at once`,
          String(claims),
          (claims / written.seconds).toFixed(0),
        ],
        ['  lost', String(lost), ''],
        [`  missed by ${pullers} pullers`, String(missed), ''],
        ['  pulled twice', String(doubled), ''],
        ['trials pushed by one writer', String(trials), (trials / loaded.seconds).toFixed(0)],
        [
          '  bytes each, in the table and in the index',
          loaded.bytesPerTrial.rows.toFixed(0),
          loaded.bytesPerTrial.index.toFixed(0),
        ],
      ],
    )}`,
  );
  writeJson(json, {
    ...about,
    versions: { ...about.versions, postgres: version },
    options: { writers, records, pullers, rounds, trials },
    results: { written, lost, missed, doubled, asked, loaded },
  });
  if (lost > 0 || missed > 0) process.exitCode = 1;
}

await run('bench:team', main);
