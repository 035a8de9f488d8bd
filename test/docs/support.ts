// Types the commands of pages: each block of shell in its user's folder.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HOST, oddMatmul, Workplace } from '../scenarios/support.ts';
import { isFull, isWithout } from '../support/needs.ts';
import type { Block } from '../support/page.ts';
import { postgresPrograms, startServer } from '../support/postgres.ts';
import { root } from '../support/real-tools.ts';

/**
 * Tests that the commands of docs/NAME.md work. The test takes minutes, so it belongs to `npm run test:full`. `npm test` includes it
 * if the page, the files of its folder, its test or the command line differ from the last passed run, or without such a run, if
 * git shows a change of the page, its files or its test.
 * @param whyNot the reason why this machine cannot run it; null if it can
 */
export function testPage(
  name: string,
  blocks: readonly Block[],
  run: () => Promise<void>,
  whyNot: () => string | null = () => null,
) {
  test('the page has commands to type', () => {
    expect(blocks.filter(({ user }) => user !== null)).not.toEqual([]);
  });
  const own = globSync([`docs/${name}.md`, `docs/${name}/*`, `test/docs/{support,${name}.test}.ts`], {
    cwd: root,
  });
  const digest = createHash('sha256');
  for (const path of [...own, ...globSync('src/cli/**/*.*', { cwd: root })].toSorted())
    digest.update(`${path}\n`).update(readFileSync(join(root, path)));
  const record = join(root, '.cache', 'pages', `${name}.json`);
  const passed = JSON.stringify({ digest: digest.digest('hex') });
  const isDue = existsSync(record) ? readFileSync(record, 'utf8') !== passed : isChanged(own);
  if (!isFull && !isDue) return;
  test.skipIf(isWithout(whyNot()))(
    'the commands of the page work, in their order',
    { timeout: 300_000 },
    async () => {
      await run();
      mkdirSync(dirname(record), { recursive: true });
      writeFileSync(record, passed);
    },
  );
}

/** Whether the working tree has other files than the last commit. False without git. */
function isChanged(paths: readonly string[]): boolean {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain', '--', ...paths], { cwd: root });
  return status === 0 && stdout.length > 0;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A user at a shell, with a home, a model and the commands. Exported variables stay for the next block. */
export class Typist {
  readonly place: Workplace;
  /** Output of each block. */
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  readonly #env: Environment;
  #exported = '';

  /** @param programs folders with other commands of the page */
  constructor(place: Workplace, env: Environment = {}, programs: readonly string[] = []) {
    this.place = place;
    this.#env = {
      HOME: place.path('home'),
      PATH: [join(root, 'bin'), ...programs, process.env['PATH']!].join(':'),
      ...env,
    };
    mkdirSync(place.path('home'));
    place.write('model.mlir', oddMatmul);
  }

  get said(): string {
    return [...this.stdout, ...this.stderr].join('');
  }

  /**
   * @param at place in the page, for the message
   * @throws Error if a command fails
   */
  async type(script: string, at: string, more: Environment = {}): Promise<void> {
    const { code, stdout, stderr } = await this.place.run(
      'sh',
      ['-c', `set -eu\n${this.#exported}\n${script}`],
      { env: { ...this.#env, ...more } },
    );
    this.stdout.push(stdout.toString());
    this.stderr.push(stderr);
    if (code !== 0) throw new Error(`${at}: ended with ${code}\n${stdout.toString()}${stderr}`);
    this.#exported += (script.match(/^export .*$/gm) ?? []).map((line) => `${line}\n`).join('');
  }
}

interface Ways {
  readonly begin: (user: string) => Typist;
  /** Replaces machines and sizes in the text for this test. */
  readonly here?: (text: string) => string;
  readonly after?: (block: Block) => void;
}

/** Types all blocks with a user. A block of `everybody` runs before each later block. */
export async function typeAll(
  blocks: readonly Block[],
  { begin, here = (text) => text, after }: Ways,
): Promise<ReadonlyMap<string, Typist>> {
  const typists = new Map<string, Typist>();
  let common = '';
  for (const block of blocks) {
    const { user, at } = block;
    // The page names a CPU; the test compiles for this machine.
    const text = here(block.text).replaceAll(/^FLAGS=.*$/gm, `FLAGS='${HOST.join(' ')}'`);
    if (user === null) continue;
    if (user === 'everybody') {
      common += text;
      continue;
    }
    const typist = typists.get(user) ?? begin(user);
    typists.set(user, typist);
    await typist.type(common + text, at);
    after?.(block);
  }
  return typists;
}

/** Starts the server of a fleet in docs/team.md until the test ends. Returns its address. */
export async function serverOfFleet(): Promise<string> {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const database = await server.database();
  await database.query(`CREATE ROLE fleet LOGIN PASSWORD 'the password of fleet'`);
  await database.query('CREATE DATABASE tuning OWNER fleet');
  return `127.0.0.1:${server.port}`;
}

/** A user of docs/team.md. The page names the server, not the environment. */
export function member(env: Readonly<Record<string, string>> = {}): Typist {
  const place = Workplace.simulated(env);
  return new Typist(place, { PGPASSWORD: undefined, IREE_TUNED_TEAM: undefined }, [postgresPrograms!]);
}
