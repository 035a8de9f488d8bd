// Breaks links and boards at random moments of tuning builds, and checks outputs, trials, files and processes: `npm run test:links -- [COUNT] [SEED]`.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { seededRandom } from '../../src/search/strategy.ts';
import { HOST, matmulModule, runMatmul, Workplace } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { sshServer, type SshServer } from '../support/ssh-server.ts';
import { commandLinesWith } from './leftovers.ts';

export interface LinkStorm {
  /** Builds of each fault. */
  readonly faults: Readonly<Record<string, number>>;
  /** Builds that have a record in spite of the fault, because it came late or was survived. */
  readonly records: number;
  /** Failed checks. */
  readonly problems: readonly string[];
}

const LOCK = '.iree-tuned-measuring';

/** Faults of a link or a board. */
const FAULTS: Readonly<Record<string, (server: SshServer, there: string) => Promise<void> | void>> = {
  'the link breaks': (server) => {
    server.breakLink();
  },
  'the board starts again': async (server) => {
    server.stop();
    await server.start();
  },
  'the board is gone': (server) => {
    server.stop();
  },
  'its disk is cleared': (_, there) => {
    for (const name of foldersIn(there)) rmSync(join(there, name), { recursive: true, force: true });
  },
};

const foldersIn = (there: string) => readdirSync(there).filter((name) => name !== LOCK && name !== 'home');

/** Longest time until nothing of a build is left there. */
const MOST_END_MS = 5000;

/** Seconds in which a fault comes. */
const LONGEST = 15;

/** Builds programs of different sizes. One fault comes in each. */
export async function linkStorm(
  count: number,
  seed: number,
  say: (line: string) => void,
): Promise<LinkStorm> {
  const random = seededRandom(seed);
  const there = temporaryDirectory();
  const server = await sshServer(there);
  const problems: string[] = [];
  const faults: Record<string, number> = {};
  let records = 0;
  const names = Object.keys(FAULTS);
  try {
    for (let i = 0; i < count; i++) {
      const place = new Workplace({
        IREE_TUNED_RUNNER: server.address,
        IREE_TUNED_RUNNER_TOOLS: dirname(runtimeTool('iree-run-module')),
        PATH: server.path,
      });
      const [m, n, k] = [61, 67, 71].map((size) => size - (i % 8)) as [number, number, number];
      place.write('in.mlir', matmulModule(m, n, k));
      const name = names[i % names.length]!;
      const seconds = random() ** 2 * LONGEST;
      const problem = (what: string) => problems.push(`${i}: ${name} after ${seconds.toFixed(1)} s: ${what}`);
      const building = place.compile(['in.mlir', ...HOST, '-o', 'out.vmfb'], {
        env: { IREE_TUNED_BUDGET: '20' },
      });
      await Promise.race([building, sleep(1000 * seconds)]);
      await FAULTS[name]!(server, there);
      faults[name] = (faults[name] ?? 0) + 1;
      const { code, stdout } = await building;
      if (code !== 0 || stdout.length > 0) problem(`the build ended with ${code}`);
      else {
        const tuned = await runMatmul(place, 'out.vmfb', m, n, k);
        await place.stock(['in.mlir', ...HOST, '-o', 'stock.vmfb']);
        const stock = await runMatmul(place, 'stock.vmfb', m, n, k);
        if (tuned.code !== 0 || !tuned.stdout.equals(stock.stdout)) problem('the output is wrong');
      }
      const { blamed, recorded } = contentOf(place.database);
      records += recorded;
      if (blamed.length > 0) problem(`candidates are blamed: ${blamed.join('; ')}`);
      if (name === 'the board is gone') await server.start();
      const begun = performance.now();
      const left = () => [...foldersIn(there), ...commandLinesWith(there)];
      while (left().length > 0 && performance.now() - begun < MOST_END_MS) await sleep(50);
      // A board without power keeps its folder until the next session.
      if (left().length > 0 && !name.startsWith('the board')) problem(`left there: ${left().join(', ')}`);
      if ((i + 1) % 10 === 0) say(`${i + 1} builds, ${records} records, ${problems.length} problems`);
    }
  } finally {
    server.close();
  }
  return { faults, records, problems };
}

/** Outcomes that blame a candidate, and the number of records. All candidates of these programs are right. */
function contentOf(path: string): { readonly blamed: readonly string[]; readonly recorded: number } {
  if (!existsSync(path)) return { blamed: [], recorded: 0 };
  const database = new Database(path, { readonly: true });
  try {
    const values = (query: string) => database.prepare(query).pluck().all() as string[];
    return {
      blamed: [
        ...values(
          "SELECT outcome || ': ' || message FROM trial WHERE outcome IN ('run-error', 'wrong-result')",
        ),
        ...values("SELECT 'a mark: ' || reason FROM mark"),
      ],
      recorded: values('SELECT digest FROM claim').length,
    };
  } finally {
    database.close();
  }
}

if (import.meta.main) {
  const [count = 200, seed = 1] = process.argv.slice(2).map(Number);
  const storm = await linkStorm(count, seed, console.log);
  for (const problem of storm.problems) console.log(problem);
  console.log(JSON.stringify({ ...storm, problems: storm.problems.length, seed }));
  if (storm.problems.length > 0) process.exitCode = 1;
}
