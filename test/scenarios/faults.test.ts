import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { compiler, root } from '../support/real-tools.ts';
import { HOST, oddMatmul, Workplace } from './support.ts';

const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];

function workplace(env: Record<string, string> = {}): Workplace {
  const place = new Workplace(env);
  place.write('in.mlir', oddMatmul);
  return place;
}

/** The build must be the stock one, to the byte. */
async function expectStockBuild(place: Workplace, env: Record<string, string | undefined> = {}) {
  const result = await place.explain(argv, { env });
  await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
  expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
  expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
  return result.explanation;
}

describe('a database that cannot be used is a build without tuning', () => {
  test.each<[string, (place: Workplace) => void, RegExp]>([
    [
      'garbage',
      (place) => {
        writeFileSync(place.database, 'this is not a database, whatever its name says'.repeat(100));
      },
      /damaged/,
    ],
    [
      'from the future',
      (place) => {
        const database = new Database(place.database);
        database.pragma('application_id = 1230128500');
        database.pragma('user_version = 999');
        database.close();
      },
      /newer|foreign|not a tuning database/,
    ],
    [
      'a folder',
      (place) => {
        mkdirSync(place.database);
      },
      /is not a file/,
    ],
    [
      "somebody else's",
      (place) => {
        const database = new Database(place.database);
        database.exec('CREATE TABLE songs (title TEXT)');
        database.close();
      },
      /not|other|foreign/,
    ],
  ])('%s', async (_, damage, reason) => {
    const place = workplace();
    mkdirSync(join(place.folder, 'data'));
    damage(place);
    const explanation = await expectStockBuild(place);
    expect(explanation.operations[0]!.reason).toMatch(reason);
  });

  test('one whose folder cannot be made', async () => {
    const place = workplace();
    place.write('file', '');
    const explanation = await expectStockBuild(place, {
      IREE_TUNED_DB: join(place.folder, 'file', 'tuning.db'),
    });
    expect(explanation.operations[0]!.outcome).toBe('default');
  });
});

describe('a cache', () => {
  test('that cannot be written is a build without tuning', async () => {
    const place = workplace();
    place.write('file', '');
    const env = { IREE_TUNED_CACHE: join(place.folder, 'file', 'cache') };
    const explanation = await expectStockBuild(place, env);
    expect(explanation.operations[0]!.reason).toMatch(/tuning failed/);
  });

  test('that cannot be written any more after tuning is a stock build', async () => {
    const place = workplace();
    await place.compile(argv);
    place.write('file', '');
    const env = { IREE_TUNED_CACHE: join(place.folder, 'file', 'cache') };
    const explanation = await expectStockBuild(place, env);
    expect(explanation.reason).toMatch(/tuning failed/);
  });

  test('of garbage is made again', async () => {
    const place = workplace();
    const first = await place.explain(argv);
    const plans = join(place.folder, 'cache', 'plans');
    for (const folder of [plans, join(place.folder, 'cache')])
      for (const file of readdirSync(folder))
        if (file.endsWith('.json')) writeFileSync(join(folder, file), '{"identity": 3, "garbage');
    const again = await place.explain(argv);
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
    expect(again.explanation.operations[0]!.configuration).toEqual(
      first.explanation.operations[0]!.configuration,
    );
  });
});

describe('the compiler', () => {
  test('that cannot be found is a clear error', async () => {
    const place = workplace();
    const result = await place.compile(argv, {
      env: { IREE_TUNED_COMPILER: join(place.folder, 'nowhere'), IREE_TOOL_PATH: undefined },
    });
    expect(result.code).not.toBe(0);
    expect(result.stderr).toMatch(/IREE_TUNED_COMPILER.*nowhere/s);
    expect(result.stdout.length).toBe(0);
  });

  test('that refuses the injected flags is run again without them', async () => {
    const place = workplace();
    await place.compile(argv);
    // An older compiler in disguise: it fails on every tuning spec.
    place.write(
      'iree-compile',
      `#!/bin/sh\ncase "$*" in *tuning-spec*) echo 'error: no such thing' >&2; exit 1;; esac\nexec '${compiler.executable}' "$@"\n`,
    );
    const { chmodSync } = await import('node:fs');
    chmodSync(place.path('iree-compile'), 0o755);
    const env = { IREE_TUNED_COMPILER: place.path('iree-compile') };
    const first = await place.explain(argv, { env });
    await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(first.explanation).toMatchObject({
      route: 'none',
      applied: false,
      reason: 'the tuned compile failed',
    });
    expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
    const records = JSON.parse((await place.tuned(['records', '--json'])).stdout.toString()) as {
      failure: string;
    }[];
    expect(records[0]!.failure).toMatch(/no such thing/);
  });
});

describe('settings', () => {
  test('with a bad value are a build without tuning', async () => {
    const place = workplace();
    const result = await place.compile(argv, { env: { IREE_TUNED_BUDGET: 'soon' } });
    await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
  });

  test('with an explanation that cannot be written do not stop the build', async () => {
    const place = workplace();
    const env = { IREE_TUNED_EXPLAIN: join(place.folder, 'no', 'such', 'folder'), IREE_TUNED_BUDGET: '0' };
    expect((await place.compile(argv, { env })).code).toBe(0);
  });
});

describe('a wrapper that is killed while it tunes', () => {
  test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
    'by %s loses no trial, and the next build works',
    async (signal) => {
      const place = workplace({ IREE_TUNED_BUDGET: '30' });
      const { child, ended } = place.start(join(root, 'bin', 'iree-compile-tuned'), argv);
      const trials = () => {
        try {
          const database = new Database(place.database, { readonly: true });
          try {
            return (database.prepare('SELECT count(*) AS n FROM trial').get() as { n: number }).n;
          } finally {
            database.close();
          }
        } catch {
          return 0;
        }
      };
      while (trials() === 0) {
        if (child.exitCode !== null) throw new Error('it ended before it was killed');
        await sleep(50);
      }
      child.kill(signal);
      expect((await ended).signal).toBe(signal);
      const before = trials();
      expect(before).toBeGreaterThan(0);

      const database = new Database(place.database);
      expect(database.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      database.close();
      const next = await place.explain(argv, { env: { IREE_TUNED_BUDGET: '8' } });
      expect({ code: next.code, stderr: next.stderr }).toEqual({ code: 0, stderr: '' });
      expect(next.explanation.operations[0]!.outcome).toBe('tuned');
      expect(trials()).toBeGreaterThan(before);
      // What the killed run left behind is gone.
      expect(readdirSync(join(place.folder, 'cache', 'work'))).toEqual([]);
    },
  );
});
