// Surveys and runs of programs wait for the measuring lock, but no build waits for long.
// In full after a change of src/site, src/system/slots.ts.
import { cpSync, renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import type { Lock } from '../../src/system/machine-lock.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { recordedWorkplace, recordMisses } from './faults/support.ts';
import { dialect } from './dialects.ts';
import { hasOpen, HOST, Workplace, WRAPPER, argv } from './support.ts';
import { readExplanation } from '../support/explain-schema.ts';

const stablehlo = dialect('stablehlo');

let lock: Lock | null = null;
afterEach(() => {
  lock?.release();
  lock = null;
});

/** Another process holds the measuring lock from now on. */
async function measureElsewhere(place: Workplace): Promise<void> {
  const env = { IREE_TUNED_MACHINE: place.folder };
  lock = await acquireMeasuringLock({ cacheDirectory: temporaryDirectory(), env }, 5);
  expect(lock).not.toBeNull();
}

describe('a survey of an input in another dialect', () => {
  let place: Workplace;
  let tools: ReturnType<Workplace['watchedTools']>;
  beforeEach(async () => {
    // The budget is too small to run the program, which would wait for the lock, too.
    place = new Workplace({ IREE_TUNED_BUDGET: '14' });
    tools = place.watchedTools();
    place.write('in.mlir', stablehlo);
    await place.compile([...HOST, 'in.mlir', '-o', 'out.vmfb'], {
      env: { IREE_TUNED_COMPILER: tools.compiler, IREE_TUNED_ON_MISS: 'record' },
    });
    recordMisses(place);
    renameSync(place.path('cache/surveys'), place.path('surveyed'));
    tools.ran();
  });

  /** A build whose input has a record and no survey. */
  const start = (settings: Readonly<Record<string, string>> = {}) => {
    const { child, ended } = place.start(WRAPPER, [...HOST, 'in.mlir', '-o', 'out.vmfb'], {
      env: { IREE_TUNED_COMPILER: tools.compiler, IREE_TUNED_EXPLAIN: 'out.json', ...settings },
    });
    return {
      child,
      /** Resolves once the build waits for the machine's lock. It holds the lock of its cache folder then. */
      waits: () =>
        expect
          .poll(() => hasOpen(child.pid!, place.path('cache/measuring.lock')), { timeout: 60_000 })
          .toBe(true),
      explained: async () => {
        expect(await ended).toMatchObject({ code: 0, stderr: '' });
        return readExplanation(place.read('out.json').toString());
      },
    };
  };
  const HIT = { operations: [{ outcome: 'hit' }] };
  const surveys = () =>
    tools.ran().filter((line) => line.includes('--compile-to=input') && !line.includes('op-generic')).length;

  test('waits for the measuring lock', async () => {
    await measureElsewhere(place);
    const build = start();
    await build.waits();
    // A build that does not wait would have made its survey by then.
    await sleep(300);
    expect(build.child.exitCode).toBeNull();
    expect(surveys()).toBe(0);
    lock!.release();
    lock = null;
    expect(await build.explained()).toMatchObject(HIT);
    expect(surveys()).toBe(1);
  });

  test('is taken from another build that made it first', { tags: 'full' }, async () => {
    await measureElsewhere(place);
    const build = start();
    await build.waits();
    cpSync(place.path('surveyed'), place.path('cache/surveys'), { recursive: true });
    expect(await build.explained()).toMatchObject(HIT);
    expect(surveys()).toBe(0);
  });

  test.each(
    casesOfTier(
      [
        ['the budget is spent', { IREE_TUNED_BUDGET: '1' }],
        ['nothing would be tuned', { IREE_TUNED_BUDGET: '0' }],
        ['misses are left alone', { IREE_TUNED_ON_MISS: 'default' }],
      ] as const,
      1,
    ),
  )('does not wait if %s: the build uses records', async (_, settings) => {
    await measureElsewhere(place);
    expect(await start(settings).explained()).toMatchObject(HIT);
    expect(surveys()).toBe(1);
  });
});

test('a program is not timed while another process measures', async () => {
  const place = await recordedWorkplace();
  await measureElsewhere(place);
  const { compiler, ran } = place.watchedTools();
  const argv = ['tune', 'in.mlir', '--budget', '1', '--verify-program'];
  const { code, stderr } = await place.tuned(argv, { env: { IREE_TUNED_COMPILER: compiler } });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/not verified: another process measured/) as string,
  });
  // The log has every step before.
  const tools = new Set(ran().map((line) => line.split(' ')[0]));
  expect([...tools]).toEqual(['iree-compile']);
});

test(
  'a build does not wait long to run its program, and the next build runs it',
  { tags: 'full' },
  async () => {
    const place = await recordedWorkplace({}, (env) => Workplace.simulated(env, { isShort: true }));
    await measureElsewhere(place);
    const { explanation } = await place.explain(argv);
    expect(explanation).toMatchObject({ applied: true, program: { injected: true, code: 'lock-busy' } });
    // Far less than the budget.
    expect(explanation.seconds.tuning).toBeLessThan(100);
    lock!.release();
    lock = null;
    expect((await place.explain(argv)).explanation.program).toMatchObject({ reason: null });
    expect((await place.explain(argv)).explanation.program).toBeNull();
  },
);

describe('surveys of many builds at once', () => {
  test(
    'are as many as there are processors, and so are the compilers for them',
    { tags: 'full' },
    async () => {
      const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
      // A compile that the user did not ask for takes its time.
      const env = place.scriptedCompiler(
        `case "$*" in *in?.mlir*--compile-to=*) ;; *) exec '${rememberingCompiler}' "$@" ;; esac
       echo begin >>log; sleep 0.3; '${rememberingCompiler}' "$@"; code=$?; echo end >>log; exit $code`,
      );
      // No build has the measuring lock, whose holder needs no slot.
      await measureElsewhere(place);
      const builds = [1, 2, 3, 4].map((i) => {
        place.write(`in${i}.mlir`, stablehlo.replaceAll('61', `6${i}`));
        return place.start(WRAPPER, [...HOST, `in${i}.mlir`, '-o', `out${i}.vmfb`], { env });
      });
      for (const { ended } of builds) expect(await ended).toMatchObject({ code: 0, stderr: '' });
      let now = 0;
      const counts = place
        .read('log')
        .toString()
        .trim()
        .split('\n')
        .map((line) => (now += line === 'begin' ? 1 : -1));
      expect(counts.length).toBeGreaterThanOrEqual(2 * 2 * builds.length);
      expect(Math.max(...counts)).toBeLessThanOrEqual(availableParallelism());
    },
  );
});
