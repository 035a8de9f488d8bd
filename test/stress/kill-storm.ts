// Kills tuning builds at random moments, and checks database, outputs, files and processes: `npm run test:kills -- [COUNT] [SEED]`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { seededRandom } from '../../src/search/strategy.ts';
import { removeAbandoned } from '../../src/system/scratch.ts';
import { HOST, matmulModule, runMatmul, Workplace, WRAPPER } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { cachedCompiler } from './cached-compiler.ts';
import { commandLinesWith, leftovers } from './leftovers.ts';

export interface Storm {
  /** Builds that were killed before they ended. */
  readonly killed: number;
  /** Builds that ended before the kill. */
  readonly ended: number;
  /** Records of all builds. */
  readonly records: number;
  /** Kills that left scratch files for the next build to remove. */
  readonly untidy: number;
  /** Longest time until all processes of a killed build had ended, in milliseconds. */
  readonly longestEnd: number;
  /** Failed checks. */
  readonly problems: readonly string[];
}

const SHAPES: readonly (readonly [m: number, n: number, k: number])[] = [
  [61, 67, 71],
  [32, 48, 40],
  [3, 96, 64],
  [45, 33, 27],
];

/**
 * Starts a tuning build, kills it after a random time, and checks the database. Then builds without tuning, and checks the output, the files
 * and the processes. Repeats this until `count` builds were killed.
 */
export async function killStorm(
  count: number,
  seed: number,
  say: (line: string) => void,
  compiler = cachedCompiler(temporaryDirectory()),
): Promise<Storm> {
  const random = seededRandom(seed);
  const problems: string[] = [];
  let [killed, ended, records, untidy, longestEnd] = [0, 0, 0, 0, 0];
  let place: Workplace | null = null;
  const whole = await preparePlace(compiler);
  const started = performance.now();
  const { code } = await whole.compile(argvOf(shapeName(SHAPES[0]!)), { env: TUNING });
  if (code !== 0) problems.push(`a build without a kill ended with ${code}`);
  let longest = ((performance.now() - started) / 1000) * 1.1;
  for (let i = 0; killed < count; i++) {
    // Once all shapes are tuned, the storm goes on in a new place.
    if (place === null || untuned(place).length === 0) place = await preparePlace(compiler);
    const left = untuned(place);
    const shape = left[Math.floor(random() * left.length)]!;
    const argv = argvOf(shape);
    const before = contentOf(place.database);
    const begun = performance.now();
    const build = place.start(WRAPPER, argv, {
      env: TUNING,
    });
    // Most kills are early, while processes start. Some are at the end, while the record is written and the program compiles.
    const seconds = random() ** 2 * longest;
    await Promise.race([build.ended, sleep(seconds * 1000)]);
    build.child.kill('SIGKILL');
    const { signal } = await build.ended;
    const endMs = await untilGone(place.folder);
    longestEnd = Math.max(longestEnd, endMs);
    if (signal === 'SIGKILL') killed++;
    else {
      ended++;
      // The machine is less busy now.
      longest = Math.min(longest, ((performance.now() - begun) / 1000) * 1.1);
    }

    const after = contentOf(place.database);
    if (endMs > MOST_END_MS) problems.push(`kill ${i} of ${shape}: its processes ran for ${endMs} ms more`);
    records += after.records.length - before.records.length;
    const problem = (what: string) =>
      problems.push(`kill ${i} of ${shape} after ${seconds.toFixed(2)} s: ${what}`);
    if (after.integrity !== 'ok') problem(`the database is damaged: ${after.integrity}`);
    const lost = before.records.filter((record) => !after.records.includes(record));
    if (lost.length > 0) problem(`records are lost: ${lost.join('; ')}`);
    if (after.trials < before.trials) problem('trials are lost');
    if (leftovers(place.folder).length > 0) untidy++;

    const next = await place.explain(argv, { env: { IREE_TUNED_BUDGET: '0' } });
    if (next.code !== 0 || next.stderr !== '' || next.stdout.length > 0)
      problem(`the next build ended with ${next.code}: ${next.stderr}`);
    else if (!(await isRight(place, shape))) problem('the output of the next build is wrong');
    // A repeated build makes no scratch folder. The next build that makes one removes the folders of killed processes.
    removeAbandoned(join(place.folder, 'cache'));
    const files = leftovers(place.folder);
    if (files.length > 0) problem(`left behind: ${files.join(', ')}`);
    const running = commandLinesWith(place.folder);
    if (running.length > 0) problem(`still running: ${running.join('; ')}`);
    if ((i + 1) % 10 === 0)
      say(
        `${i + 1} builds: ${killed} killed, ${ended} ended, ${records} records, ${problems.length} problems`,
      );
  }
  return { killed, ended, records, untidy, longestEnd, problems };
}

/** Limit until the watchers of a killed build have killed its children. A busy machine delays the watchers. */
const MOST_END_MS = 1000;

/** Milliseconds until no process has the text in its command line. Gives up after `MOST_END_MS`. */
async function untilGone(text: string): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const isGone = commandLinesWith(text).length === 0;
    const passed = Math.round(performance.now() - begun);
    if (isGone || passed > MOST_END_MS) return passed;
    await sleep(10);
  }
}

const TUNING = { IREE_TUNED_BUDGET: '5' };

const argvOf = (shape: string) => [...HOST, `${shape}.mlir`, '-o', 'out.vmfb'];

const shapeName = (shape: readonly number[]) => shape.join('x');

/** A new workplace with the inputs and the stock compiler's outputs. */
async function preparePlace(compiler: string): Promise<Workplace> {
  const place = new Workplace({ IREE_TUNED_COMPILER: compiler });
  for (const shape of SHAPES) {
    const name = shapeName(shape);
    place.write(`${name}.mlir`, matmulModule(...shape));
    await place.stock([...HOST, `${name}.mlir`, '-o', `${name}.vmfb`]);
  }
  return place;
}

/** Shapes without a record. */
function untuned(place: Workplace): string[] {
  const { records } = contentOf(place.database);
  return SHAPES.filter(([m, n, k]) => !records.some((record) => record.includes(`m=${m} n=${n} k=${k}`))).map(
    shapeName,
  );
}

interface Content {
  readonly integrity: string;
  /** Workload and configuration of each record. Evidence is left out, because better evidence replaces it. */
  readonly records: readonly string[];
  readonly trials: number;
}

function contentOf(path: string): Content {
  const empty = { integrity: 'ok', records: [], trials: 0 };
  if (!existsSync(path)) return empty;
  const database = new Database(path);
  try {
    const rows = database.pragma('integrity_check') as { integrity_check: string }[];
    const integrity = rows.map(({ integrity_check }) => integrity_check).join('; ');
    const hasTables =
      database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'claim'").get() !== undefined;
    if (!hasTables) return { ...empty, integrity };
    const records = database
      .prepare(
        `SELECT workload.key || ' ' || claim.configuration AS text
         FROM claim JOIN subject ON subject.id = claim.subject JOIN workload ON workload.id = subject.workload`,
      )
      .pluck()
      .all() as string[];
    const trials = database.prepare('SELECT count(*) FROM trial').pluck().get() as number;
    return { integrity, records, trials };
  } finally {
    database.close();
  }
}

/** Whether the output has the stock compiler's bytes, or the stock program's results. */
async function isRight(place: Workplace, shape: string): Promise<boolean> {
  if (place.read('out.vmfb').equals(place.read(`${shape}.vmfb`))) return true;
  const [m, n, k] = shape.split('x').map(Number) as [number, number, number];
  const [mine, stock] = [
    await runMatmul(place, 'out.vmfb', m, n, k),
    await runMatmul(place, `${shape}.vmfb`, m, n, k),
  ];
  return mine.code === 0 && mine.stdout.length > 0 && mine.stdout.equals(stock.stdout);
}

if (import.meta.main) {
  const [count = 200, seed = 1] = process.argv.slice(2).map(Number);
  const storm = await killStorm(count, seed, console.log);
  for (const problem of storm.problems) console.log(problem);
  console.log(JSON.stringify({ ...storm, problems: storm.problems.length, seed }));
  if (storm.problems.length > 0 || storm.killed === 0) process.exitCode = 1;
}
