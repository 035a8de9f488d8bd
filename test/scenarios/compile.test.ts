// In full after a change of src/plan/route.ts, src/spec.
import { describe, expect, test } from 'vitest';
import type { ExplainedOperation } from '../../src/report/explain.ts';
import type { TuningRecord } from '../../src/store/store.ts';
import { TILE } from '../store/samples.ts';
import { cachedCompiler } from '../stress/cached-compiler.ts';
import { compiler } from '../support/real-tools.ts';
import { record, recordedWorkplace, workplace } from './faults/support.ts';
import {
  decisionsOf,
  hasOpen,
  HOST,
  matmulModule,
  oddMatmul,
  rowsOf,
  withoutMatmul,
  Workplace,
  WRAPPER,
} from './support.ts';
import { casesOfTier } from '../support/needs.ts';

const PATIENT = { timeout: 250_000 };

const recordsOf = (place: Workplace) => place.asked<TuningRecord[]>(['db', 'ls', '--json']);

describe('a miss and then a hit', () => {
  test('the first compile tunes, the second measures nothing and injects the same', async () => {
    const place = Workplace.real({ IREE_TUNED_BUDGET: '300' });
    // Only the length of the search is reduced.
    const tools = place.watchedTools(cachedCompiler(place.path('real'), { oneBatch: true }));
    const env = { IREE_TUNED_COMPILER: tools.compiler, IREE_TUNED_INJECT: 'spec' };
    place.write('in.mlir', oddMatmul);
    const first = await place.explain([...HOST, 'in.mlir', '-o', 'first.vmfb'], { env });
    expect({ ...first, stdout: first.stdout.length }).toMatchObject({ code: 0, stdout: 0, stderr: '' });
    expect(first.explanation).toMatchObject({
      operations: [{ location: 'in.mlir:2:13', operation: 'linalg.matmul' }],
      seconds: { tuning: expect.toSatisfy((seconds: number) => seconds > 0) as number },
    });
    const programs = tools.ran().map((line) => line.slice(0, line.indexOf(' ')));
    expect(programs).toEqual(expect.arrayContaining(['iree-benchmark-module', 'iree-run-module']));
    expect(rowsOf(place, `trial WHERE outcome = 'measured'`)).toBeGreaterThan(1);
    const [record, ...others] = await recordsOf(place);
    expect(others).toEqual([]);

    // The result depends on the processor. An unfinished search goes on in the next build.
    const isOpen = !record!.evidence.complete;
    const next = { ...env, IREE_TUNED_OUTPUTS: 'off', ...(isOpen && { IREE_TUNED_ON_MISS: 'default' }) };
    const second = await place.explain([...HOST, 'in.mlir', '-o', 'second.vmfb'], { env: next });
    const { route } = first.explanation;
    const [{ configuration }] = first.explanation.operations as [ExplainedOperation];
    expect(second).toMatchObject({
      code: 0,
      explanation: { route, operations: [{ configuration }], seconds: { tuning: 0 } },
    });
    if (route === 'spec') {
      expect(first.explanation).toMatchObject({ applied: true, reason: null });
      expect(record!.configuration).toEqual(configuration);
      expect(second.explanation.operations[0]!.outcome).toBe('hit');
    }
    const ran = tools.ran();
    expect(ran).toHaveLength(1);
    const isInjected = ran[0]!.startsWith('iree-compile --iree-codegen-tuning-spec-path=');
    expect(isInjected).toBe(route === 'spec');
    expect(place.read('second.vmfb').equals(place.read('first.vmfb'))).toBe(true);
    await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
    expect(place.read('stock.vmfb').equals(place.read('first.vmfb'))).toBe(!isInjected);
  });

  test('two builds of the same miss at the same time tune it once, and both succeed', async () => {
    const place = Workplace.simulated();
    place.write('in.mlir', oddMatmul);
    // One build measures until the other build waits for it.
    place.write('hold', '');
    const builds = ['a', 'b'].map((name) => place.start(WRAPPER, [...HOST, 'in.mlir', '-o', `${name}.vmfb`]));
    await expect.poll(() => rowsOf(place, 'trial'), PATIENT).toBeGreaterThan(0);
    await expect
      .poll(() => builds.map(({ child }) => hasOpen(child.pid!, place.database)), PATIENT)
      .toEqual([true, true]);
    place.remove('hold');
    const results = await Promise.all(builds.map(({ ended }) => ended));
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(place.read('a.vmfb').equals(place.read('b.vmfb'))).toBe(true);
    const records = await recordsOf(place);
    expect(records).toHaveLength(1);
    // A second search would double the number of trials. The best eight are measured again.
    const shown = await place.asked<{ trials: unknown[] }>(['db', 'show', 'm=61', '--json']);
    expect(shown.trials.length).toBeLessThanOrEqual(records[0]!.evidence.trials + 9);
  });

  test.each(['substitute', 'spec', 'preprocess', 'inline'])(
    'the output by %s does not depend on where the caches and temporary files are',
    { tags: 'full' },
    async (route) => {
      const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb', `--iree-tuned-inject=${route}`];
      const build = async () => {
        // The compiler that remembers would replace names of folders.
        const place = await recordedWorkplace({ IREE_TUNED_COMPILER: compiler.executable });
        const result = await place.explain(argv, { env: { TMPDIR: place.folder } });
        expect(result).toMatchObject({
          ...{ code: 0, stderr: '' },
          explanation: { route, applied: true, operations: [{ outcome: 'hit', configuration: TILE }] },
        });
        expect(place.read('in.mlir').toString()).toBe(oddMatmul);
        return place.read('out.vmfb');
      };
      const [one, two] = await Promise.all([build(), build()]);
      expect(one.equals(two)).toBe(true);
    },
  );

  test(
    'with data tiling on, which breaks tuning specs, preprocessing is the route',
    { tags: 'full' },
    async () => {
      const place = workplace();
      const argv = [...HOST, '--iree-opt-data-tiling', 'in.mlir', '-o', 'out.vmfb'];
      await record(place, undefined, argv);
      const result = await place.explain(argv);
      expect(result.code).toBe(0);
      expect(result.explanation).toMatchObject({ route: 'preprocess', applied: true });
    },
  );
});

describe('input and output', () => {
  test('an input that is a pipe is left to the compiler', { tags: 'full' }, async () => {
    const place = Workplace.real();
    place.write('in.mlir', oddMatmul);
    const script = '"$0" "$@" <(cat in.mlir) -o out.vmfb';
    const { code, stderr } = await place.run('bash', ['-c', script, WRAPPER, ...HOST]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(place.has('out.vmfb')).toBe(true);
  });

  test(
    'stdin and stdout work on a miss, on the second run and on a proven hit',
    { tags: 'full' },
    async () => {
      const place = Workplace.simulated();
      const argv = [...HOST, '-'];
      const runs = [];
      for (let i = 0; i < 3; i++) runs.push(await place.explain(argv, { stdin: oddMatmul }));
      expect(runs).toMatchObject(Array(3).fill({ code: 0, stderr: '' }));
      const outcomes = runs.map(({ explanation }) => explanation.operations[0]!.outcome);
      expect(outcomes).toEqual(['tuned', 'hit', 'hit']);
      expect(runs[0]!.stdout.length).toBeGreaterThan(1000);
      expect(runs[1]!.stdout.equals(runs[0]!.stdout)).toBe(true);
      expect(runs[2]!.stdout.equals(runs[0]!.stdout)).toBe(true);
    },
  );

  test('input without matmuls gives the same bytes as the real compiler', async () => {
    const place = new Workplace();
    place.write('in.mlir', withoutMatmul);
    const explanation = await place.built([...HOST, 'in.mlir', '-o', 'out.vmfb']);
    expect(explanation).toMatchObject({ route: 'none', code: 'nothing-to-tune', operations: [] });
    expect(await place.isStock()).toBe(true);
  });

  // test/differential has other invalid inputs, and reasons.test.ts a command without a target.
  test.each([
    ['a syntax error behind a matmul', `${oddMatmul}\nfunc.func @broken( {`, []],
    ['an unknown flag', oddMatmul, ['--no-such-flag']],
  ])('%s gives the same message and exit code as the real compiler', async (_, text, extra) => {
    const place = await recordedWorkplace();
    place.write('in.mlir', text);
    const argv = [...HOST, ...extra, 'in.mlir', '-o', 'out.vmfb'];
    const [ours, theirs] = [await place.compile(argv), await place.stock(argv)];
    expect(theirs.code).not.toBe(0);
    expect(ours).toEqual(theirs);
    expect(place.has('out.vmfb')).toBe(false);
  });

  test('a misspelt flag of ours gives the message of the real compiler, and the right name', async () => {
    const place = await recordedWorkplace();
    const argv = [...HOST, '--iree-tuned-budgt=5', 'in.mlir', '-o', 'out.vmfb'];
    const [ours, theirs] = [await place.compile(argv), await place.stock(argv)];
    const hint = '--iree-tuned-budgt is not a setting (did you mean --iree-tuned-budget?)';
    expect(ours).toEqual({ ...theirs, stderr: `${theirs.stderr}iree-compile-tuned: ${hint}\n` });
    expect(ours.code).toBe(1);
  });

  test('a misspelt variable is in the log', async () => {
    const place = await recordedWorkplace({ IREE_TUNED_LOG: 'log', IREE_TUNED_BUDGE: '4' });
    expect(await place.compile([...HOST, 'in.mlir', '-o', 'out.vmfb'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    const hint = 'IREE_TUNED_BUDGE is not a setting (did you mean IREE_TUNED_BUDGET?)';
    expect(place.read('log').toString()).toContain(hint);
  });

  test.each([
    [['--version']],
    [['--help']],
    [['--iree-hal-list-target-backends']],
    [[]],
    [['a.mlir', 'b.mlir']],
    [['missing.mlir', ...HOST]],
  ])('%j behaves as the real compiler does', async (argv) => {
    const place = Workplace.real();
    expect(await place.compile(argv)).toEqual(await place.stock(argv));
  });
});

const OWN = `{compilation_info = #iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [32, 32, 0], vector_common_parallel = [4, 16, 0], vector_reduction = [0, 0, 2]>, translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>}`;
const FOREIGN =
  process.arch === 'x64' ? 'aarch64-unknown-unknown-eabi-elf' : 'x86_64-unknown-unknown-eabi-elf';

const untuned: [string, string, readonly string[], Record<string, string>, string][] = [
  ['dynamic dimensions', matmulModule('?', 64, 64), HOST, {}, 'skipped: sizes-missing'],
  ['a budget of 0', oddMatmul, HOST, { IREE_TUNED_BUDGET: '0' }, 'default: no-budget'],
  ['on-miss=record', oddMatmul, HOST, { IREE_TUNED_ON_MISS: 'record' }, 'default: tuning-off'],
  ['an own compilation_info', matmulModule(64, 64, 64, OWN), HOST, {}, 'skipped: own-configuration'],
  [
    'a target that this machine cannot run',
    oddMatmul,
    [...HOST.slice(0, 2), `--iree-llvmcpu-target-triple=${FOREIGN}`],
    {},
    'default: device-unsuitable',
  ],
];
test.each(casesOfTier(untuned, 3))(
  'an operation with %s is compiled as by the compiler alone',
  async (_, text, flags, env, decision) => {
    const place = new Workplace(env);
    place.write('in.mlir', text);
    const explanation = await place.built([...flags, 'in.mlir', '-o', 'out.vmfb']);
    expect(decisionsOf(explanation)).toEqual([decision]);
    expect(await place.isStock('out.vmfb', [...flags, 'in.mlir'])).toBe(true);
    expect(rowsOf(place, 'miss')).toBe(decision === 'default: tuning-off' ? 1 : 0);
  },
);

test('a tuning spec of the user stays in force', async () => {
  const place = new Workplace();
  place.write('in.mlir', oddMatmul);
  place.write('own.mlir', 'module attributes {transform.with_named_sequence} {}\n');
  const argv = [...HOST, '--iree-codegen-tuning-spec-path=own.mlir', 'in.mlir', '-o', 'out.vmfb'];
  expect((await place.explain(argv)).explanation).toMatchObject({ route: 'none', code: 'own-tuning' });
});

test('a target without a tuner is passed through before the input is read', async () => {
  const place = new Workplace();
  place.write('in.mlir', oddMatmul);
  const flags = ['--iree-hal-target-device=metal', 'in.mlir', '-o', 'out.vmfb'];
  const explanation = await place.built(flags);
  expect(explanation).toMatchObject({ code: 'backend-unsupported', operations: [] });
  expect([place.has('cache/surveys'), place.has('data')]).toEqual([false, false]);
  expect(await place.isStock('out.vmfb', flags.slice(0, 2))).toBe(true);
});
