// In full after a change of src/tuning/search-notes.ts, src/site/measuring-lock.ts.
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { coldBuilds } from '../../stress/cold-builds.ts';
import { killStorm } from '../../stress/kill-storm.ts';
import { commandLinesWith, leftovers } from '../../stress/leftovers.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { casesOfTier, isFull } from '../../support/needs.ts';
import { simulatedTools } from '../../support/simulated-tools.ts';
import { oddMatmul, rowsOf, Workplace, WRAPPER, argv } from '../support.ts';

describe('a wrapper that is killed while it tunes', () => {
  // All caught signals have one handler.
  const signals = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  test.each(casesOfTier(signals, 1))('by %s loses no trial, and the next build works', async (signal) => {
    const place = Workplace.simulated({}, { isShort: true, programs: 'failing' });
    place.write('in.mlir', oddMatmul);
    // The search has measured a batch, and hangs in the next one.
    place.write('hold', '');
    const { child, ended } = place.start(WRAPPER, argv);
    await expect.poll(() => rowsOf(place, 'trial'), { timeout: 250_000 }).toBeGreaterThan(0);
    child.kill(signal);
    expect((await ended).signal).toBe(signal);
    // A child that stayed alive would wait for the file `hold`.
    await expect.poll(() => commandLinesWith(place.folder), { timeout: 60_000 }).toEqual([]);
    const before = rowsOf(place, 'trial');
    expect(before).toBeGreaterThan(0);

    const database = new Database(place.database);
    expect(database.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    database.close();
    place.remove('hold');
    const next = await place.built(argv);
    expect(next.operations[0]!.outcome).toBe('tuned');
    expect(rowsOf(place, 'trial')).toBeGreaterThan(before);
    // The leftovers of the killed build are removed.
    expect(leftovers(place.folder)).toEqual([]);
  });
});

// `npm run test:kills` has real candidates and more kills.
if (isFull)
  test('a few kills at random moments leave nothing behind', async () => {
    const compiler = simulatedTools(temporaryDirectory());
    const { killed, problems } = await killStorm(3, 3, () => undefined, compiler);
    expect(problems).toEqual([]);
    expect(killed).toBe(3);
  });

test(
  'eight cold builds at once tune once, also after the first tuning build is killed',
  { timeout: 600_000, tags: 'full' },
  async () => {
    const { good, records, searches, outcomes, problems } = await coldBuilds(8, {
      killFirst: true,
      place: Workplace.simulated({ IREE_TUNED_BUDGET: '600' }),
    });
    expect({ good, records, problems }).toEqual({ good: 7, records: 1, problems: [] });
    // The killed build, and the build that took over.
    expect(searches).toBe(2);
    expect(outcomes).toEqual({ tuned: 1, hit: 6 });
  },
);
