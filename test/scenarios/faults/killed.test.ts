import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { cachedCompiler } from '../../stress/cached-compiler.ts';
import { coldBuilds } from '../../stress/cold-builds.ts';
import { killStorm } from '../../stress/kill-storm.ts';
import { commandLinesWith, leftovers } from '../../stress/leftovers.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { root } from '../../support/real-tools.ts';
import { argv, workplace } from './support.ts';

const compiler = cachedCompiler(temporaryDirectory());

describe('a wrapper that is killed while it tunes', () => {
  test.each(['SIGKILL', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'by %s loses no trial, and the next build works',
    { timeout: 300_000 },
    async (signal) => {
      const place = workplace({ IREE_TUNED_BUDGET: '30', IREE_TUNED_COMPILER: compiler });
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
      expect(leftovers(place.folder)).toEqual([]);
      expect(commandLinesWith(place.folder)).toEqual([]);
    },
  );
});

test('a few kills at random moments leave nothing behind', { timeout: 300_000 }, async () => {
  const { killed, problems } = await killStorm(4, 3, () => undefined, compiler);
  expect(problems).toEqual([]);
  expect(killed).toBe(4);
});

test(
  'eight cold builds at once tune once, also when the first that tunes is killed',
  { timeout: 600_000 },
  async () => {
    const { good, records, searches, outcomes, problems } = await coldBuilds(8, {
      killFirst: true,
      budget: '120',
    });
    expect({ good, records, problems }).toEqual({ good: 7, records: 1, problems: [] });
    // The one that was killed, and the one that took over.
    expect(searches).toBe(2);
    expect(outcomes).toEqual({ tuned: 1, hit: 6 });
  },
);
