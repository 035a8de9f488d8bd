// In full after a change of src/cli/stats.ts, src/report/counts.ts.
import { expect, test } from 'vitest';
import { misbehavingCompiler, statistics } from './faults/support.ts';
import { HOST, matmulModule, oddMatmul, withoutMatmul, Workplace } from './support.ts';

test(
  'stats count the outcomes of compiles and operations, with reasons',
  { tags: 'full', timeout: 300_000 },
  async () => {
    const place = Workplace.simulated();
    const build = async (text: string, options: readonly string[] = [], env = {}) => {
      place.write('in.mlir', text);
      const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb', ...options];
      expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    };
    expect(await place.said(['stats'])).toBe(`${place.path('cache')} has no log of builds yet.\n`);

    await build(withoutMatmul);
    await build(`// iree-tuned: disable\n${oddMatmul}`);
    await build(oddMatmul, ['--compile-to=input']);
    await build(matmulModule('?', 8, 8));
    await build(oddMatmul, ['--iree-tuned-budget=0']);
    await build(oddMatmul, ['--iree-tuned-budget=soon']);
    await build(oddMatmul, ['--iree-tuned-inject=spec']);
    await build(oddMatmul, ['--iree-tuned-inject=spec']);
    // This compiler fails on every tuning spec.
    // The budget is too small to run the program.
    const refusing = { ...misbehavingCompiler(place, '*tuning-spec*', 'exit 1'), IREE_TUNED_BUDGET: '14' };
    const otherProgram = oddMatmul.replace('(%lhs:', '(%unused: tensor<8xf32>, %lhs:');
    await build(otherProgram, ['--iree-tuned-inject=spec'], refusing);

    // Showing the statistics does not reset them.
    await statistics(place, [], { IREE_TUNED_READONLY: '1' });
    const { compiles, routes, operations, hitRate, reasons, seconds } = await statistics(place, ['--zero']);
    expect(compiles).toEqual({ all: 9, tuned: 2, unchanged: 6, fallback: 1 });
    expect(routes).toEqual({ spec: 2 });
    expect(operations).toEqual({
      ...{ hit: 2, tuned: 1, defaultKept: 0, default: 1, skipped: 1, notApplied: 0 },
    });
    expect(hitRate).toBe(0.5);
    expect(reasons).toEqual({
      unchanged: {
        'disabled-by-comment': 1,
        'partial-compile': 1,
        'nothing-to-tune': 2,
        'no-gain': 1,
        'setting-invalid': 1,
      },
      fallback: { 'tuned-compile-failed': 1 },
      default: { 'no-budget': 1 },
      skipped: { 'sizes-missing': 1 },
      notVerified: { 'no-run-time': 1 },
    });
    expect(seconds.tuning).toBeGreaterThan(0);
    // The saved time is the measured time of the record.
    const [found] = place.inStore((store) => store.allRecords());
    const { defaultSeconds, seconds: tuned } = found!.evidence;
    expect(seconds.perRun!.default / defaultSeconds).toBeCloseTo(1);
    expect(seconds.perRun!.saved / (defaultSeconds - tuned)).toBeCloseTo(1);

    expect((await statistics(place)).compiles.all).toBe(0);
    await build(withoutMatmul);
    const text = await place.said(['stats']);
    expect(text).toMatch(/^compiles +1$/m);
    expect(text).toMatch(/^ {2}nothing-to-tune: nothing to tune in the input +1$/m);
  },
);
