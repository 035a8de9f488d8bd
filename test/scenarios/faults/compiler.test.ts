// In full after a change of src/wrapper/blame.ts, src/wrapper/plan-run.ts, src/plan/ledger.ts, src/inject/diagnostics.ts.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DECISION } from '../../store/samples.ts';
import { casesOfTier, isFull } from '../../support/needs.ts';
import { HOST, matmulModule, type Workplace, argv } from '../support.ts';
import {
  expectStockBuild,
  misbehavingCompiler,
  record,
  recordedWorkplace,
  statistics,
  workplace,
} from './support.ts';
import { because } from '../../../src/system/reason.ts';

describe('the compiler', () => {
  test('that cannot be found gives a clear error', async () => {
    const place = workplace();
    const result = await place.compile(argv, {
      env: { IREE_TUNED_COMPILER: join(place.folder, 'nowhere'), IREE_TOOL_PATH: undefined },
    });
    expect(result.code).toBe(127);
    expect(result.stderr).toMatch(/the setting compiler: .*nowhere does not exist/);
    expect(result.stdout.length).toBe(0);
  });
});

const recordsOf = (place: Workplace) => place.inStore((store) => store.allRecords());

/** The wrapper with faster timers. */
function hurried(place: Workplace, times: number) {
  place.write(
    'hurry.mjs',
    `const real = setInterval;
globalThis.setInterval = (callback, delay, ...given) => real(callback, delay / ${times}, ...given);
`,
  );
  return { NODE_OPTIONS: `--import=${place.path('hurry.mjs')}` };
}

const isInjected = '*--iree-codegen-tuning-spec-path=*';

describe('a compiler that fails with the injection', () => {
  const misdeeds = [
    ['crashes', 'kill -SEGV $$'],
    ['fails', "echo 'in.mlir:2:3: error: no such thing' >&2; exit 1"],
    ['hangs', 'exec sleep 600'],
    ['ends well without an output', 'exit 0'],
    ['fails for another reason', "echo 'error: no such pass' >&2; exit 1"],
    ['hangs in a process that it has started', 'sleep 600; exit 0'],
  ] as const;
  test.each(casesOfTier(misdeeds, 2))(
    'and %s is run again without it, and the plan is not tried again',
    { timeout: 180_000 },
    async (what, deed) => {
      const why = because(what.startsWith('hangs') ? 'tuned-compile-hung' : 'tuned-compile-failed');
      const place = await recordedWorkplace();
      const env = {
        ...misbehavingCompiler(place, isInjected, `echo x >>tempted; ${deed}`),
        // A compile without processor time for half a minute hangs. Faster timers detect it within seconds.
        ...(what.startsWith('hangs') && hurried(place, 10)),
      };
      const explanation = await expectStockBuild(place, env);
      expect(explanation).toMatchObject({ route: 'none', applied: false, ...why });
      const [record] = recordsOf(place);
      // Only a crash, or messages about the operation, mark its record, which other programs may share.
      if (what === 'fails') expect(record!.failure).toMatch(/no such thing/);
      else if (what === 'crashes') expect(record!.failure).toMatch(/the compiler crashed: SIGSEGV/);
      else expect(record!.failure).toBeNull();
      expect((await statistics(place)).reasons.fallback).toEqual({ [why.code]: 1 });
      await expectStockBuild(place, { ...env, IREE_TUNED_BUDGET: '0' });
      // A second compile proves that the injection is to blame. There is none after a hang.
      expect(place.read('tempted').toString()).toBe(what.startsWith('hangs') ? 'x\n' : 'x\nx\n');
    },
  );

  test.each([
    ['once', '[ -e failed ] || { echo x >failed; echo "in.mlir:2:3: error: odd" >&2; exit 1; }'],
    ['for want of room', 'echo "in.mlir:2:3: error: failed to write: No space left on device" >&2; exit 1'],
    ['in its linker', 'echo "in.mlir:2:3: error: linker iree-lld ended with 9" >&2; exit 1'],
  ])('%s is run again without it, and no configuration is blamed', async (_, deed) => {
    const place = await recordedWorkplace();
    const env = misbehavingCompiler(place, isInjected, deed);
    const { code, explanation } = await place.explain(argv, { env });
    expect([code, explanation.code]).toEqual([0, 'tuned-compile-failed']);
    expect(recordsOf(place)).toMatchObject([{ failure: null }]);
    // The compiler works in the next build.
    const next = await place.explain(argv, {});
    expect(next).toMatchObject({ code: 0, explanation: { route: 'spec', applied: true } });
  });
});

/** Functions with matmuls of these numbers of rows. */
const matmuls = (rows: readonly number[]) =>
  rows.map((m) => matmulModule(m, 67, 71).replace('@main', `@f${m}`)).join('');

const culprits: [string, string, RegExp][] = [
  ['fails without a location', "echo 'error: an odd failure' >&2; exit 1", /an odd failure/],
  ['crashes', 'kill -SEGV $$', /the compiler crashed: SIGSEGV/],
];
test.each(casesOfTier(culprits, 1))(
  'a configuration with which the compiler %s is found among others, and only it is marked',
  { timeout: 120_000 },
  async (_, deed, failure) => {
    const rows = isFull ? [61, 53, 47, 59, 43] : [61, 47];
    const place = workplace({ IREE_TUNED_BUDGET: '0' });
    place.write('in.mlir', matmuls(rows));
    await record(place);
    // The spec of the route names the numbers of rows.
    const hasCulprit = `for a; do case $a in *tuning-spec-path=*) grep -q '\\[47\\]' "\${a#*=}" && { echo x >>tempted; ${deed}; } ;; esac; done`;
    const env = misbehavingCompiler(place, isInjected, hasCulprit);
    await expectStockBuild(place, env);
    const tempted = place.read('tempted').toString();
    for (const { workload, failure: noted } of recordsOf(place))
      if (workload.includes('m=47 ')) expect(noted).toMatch(failure);
      else expect([workload, noted]).toEqual([workload, null]);
    const explanation = await place.built(argv, { env });
    const outcomes = explanation.operations.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(rows.map((m) => (m === 47 ? 'default' : 'hit')));
    expect(explanation.route).not.toBe('none');
    expect(place.read('tempted').toString()).toBe(tempted);
  },
);

test(
  'an injection that crashes the compiler with every configuration marks none of them',
  { tags: 'full' },
  async () => {
    const place = workplace({ IREE_TUNED_BUDGET: '0' });
    place.write('in.mlir', matmuls([61, 53]));
    await record(place);
    const env = misbehavingCompiler(place, isInjected, 'kill -SEGV $$');
    await expectStockBuild(place, env);
    expect(recordsOf(place).map(({ failure }) => failure)).toEqual([null, null]);
  },
);

test(
  'a record of another device that breaks a compile is marked on that device',
  { tags: 'full' },
  async () => {
    const place = workplace({ IREE_TUNED_BUDGET: '0' });
    // This target cannot be measured here, so the build uses a record of another device.
    const triple =
      process.arch === 'x64' ? 'aarch64-unknown-unknown-eabi-elf' : 'x86_64-unknown-unknown-eabi-elf';
    const foreign = [
      ...HOST.slice(0, 2),
      `--iree-llvmcpu-target-triple=${triple}`,
      ...argv.slice(HOST.length),
    ];
    await place.compile(foreign, { env: { IREE_TUNED_ON_MISS: 'record' } });
    place.inStore((store) => {
      const [miss] = store.misses();
      store.putRecord({ ...store.subject(miss!)!, device: 'elsewhere' }, DECISION);
    });
    const env = misbehavingCompiler(
      place,
      isInjected,
      "echo 'in.mlir:2:3: error: no such thing' >&2; exit 1",
    );
    const broken = await place.explain(foreign, { env });
    expect(broken).toMatchObject({ code: 0, explanation: { code: 'tuned-compile-failed' } });
    expect(recordsOf(place)).toMatchObject([
      { device: 'elsewhere', failure: 'compile-error: in.mlir:2:3: error: no such thing' },
    ]);
    // Another plan does not use the record either.
    const next = await place.explain([...foreign, '--iree-tuned-inject=preprocess'], { env });
    expect(next.explanation.operations).toMatchObject([{ outcome: 'default' }]);
  },
);

test('a killed tuned compile is repeated without tuning, and the next build tunes again', async () => {
  const place = await recordedWorkplace();
  const killedOnce = '[ -e killed ] || { echo x >killed; kill -KILL $$; }';
  const env = misbehavingCompiler(place, '*--iree-codegen-tuning-spec-path=*', killedOnce);
  const explanation = await expectStockBuild(place, { ...env, IREE_TUNED_LOG: 'log' });
  expect(explanation).toMatchObject({ route: 'none', code: 'tuned-compile-failed' });
  expect(place.read('log').toString()).toMatch(
    /Z a tuned compile failed and was done again without tuning$/m,
  );
  const next = await place.explain(argv, { env });
  expect(next).toMatchObject({ code: 0, explanation: { route: 'spec', reason: null } });
});

test('a tuned compile that is killed in two builds is not tried again', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
  const env = misbehavingCompiler(place, isInjected, 'echo x >>tried; kill -KILL $$');
  for (const tries of [1, 2, 2]) {
    await expectStockBuild(place, env);
    expect(place.read('tried').toString()).toBe('x\n'.repeat(tries));
  }
  const { explanation } = await place.explain(argv, { env });
  expect(explanation.code).toBe('broke-before');
});

describe('a compiler that fails without an injection', () => {
  test.each([
    ['crashes', 'kill -SEGV $$'],
    ['fails', "echo 'error: no such thing' >&2; exit 3"],
    ['ends well without an output', 'exit 0'],
  ])('and %s gives the same result with the wrapper', async (_, deed) => {
    const place = workplace();
    const env = misbehavingCompiler(place, '*', `ulimit -c 0; ${deed}`);
    const ours = await place.compile(argv, { env });
    const direct = await place.run(place.path('iree-compile'), argv);
    expect(ours).toEqual(direct);
    expect(place.has('out.vmfb')).toBe(false);
  });
});
