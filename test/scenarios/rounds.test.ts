// A program with several workloads is tuned as a whole, by the real compiler.
// In full after a change of src/running/round-bench.ts, src/program/rounds.ts.
import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier, isWithout } from '../support/needs.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import { CANDIDATES, installScripts } from '../support/scripts.ts';
import { LLVMPIPE_FLAGS, whyNoVulkan } from '../support/vulkan.ts';
import { productsOf } from './programs.ts';
import { HOST, WITHOUT_RATES, Workplace, argv } from './support.ts';

const SIZES = [
  [49, 96, 64],
  [49, 64, 96],
  [50, 96, 48],
  [33, 80, 64],
] as const;

/**
 * The real compiler for the first batch of rounds. It refuses later batches and all searches of one workload, so the refusals end the
 * tuning and not the budget.
 * @param isSlow whether a call of the untuned program takes a minute
 */
function oneBatch(place: Workplace, isSlow = false): string {
  const rounds = place.path('rounds');
  const tools = place.path('tools');
  const compile = installScripts(tools, {
    compile: `case "$*" in
  ${CANDIDATES}) exit 1 ;;
  */rounds/round0/program.vmfb*) [ ! -e '${rounds}' ] || exit 1; touch '${rounds}' ;;
  */rounds/round*/program.vmfb*) exit 1 ;;
esac
exec '${compiler.executable}' "$@"`,
    benchmark: `${isSlow ? 'case "$*" in */stock.vmfb*) exec sleep 60 ;; esac' : ''}
exec '${runtimeTool('iree-benchmark-module')}' "$@"`,
    run: `exec '${runtimeTool('iree-run-module')}' "$@"`,
  });
  const runtime = dirname(runtimeTool('iree-run-module'));
  symlinkSync(join(runtime, 'iree-profile'), join(tools, 'iree/_runtime_libs/iree-profile'));
  return compile;
}

function expectTrials(place: Workplace): void {
  const trials = "SELECT count(*) FROM trial WHERE strategy = 'program' GROUP BY subject";
  const tried = place.columnOf<number>(trials);
  expect(tried).toHaveLength(SIZES.length);
  for (const count of tried) expect(count).toBeGreaterThan(0);
}

// A twelfth of the budget is a wait for the call. The rest has to suffice on a busy machine.
test(
  'a program with calls of a minute is tuned by a sample of its work',
  { tags: 'full', timeout: 400_000 },
  async () => {
    const place = Workplace.real({ IREE_TUNED_BUDGET: '120' });
    place.write('in.mlir', productsOf(SIZES));
    const env = { IREE_TUNED_COMPILER: oneBatch(place, true) };
    const explanation = await place.built(argv, { env });
    expect(explanation.operations.map(({ outcome }) => outcome)).not.toContain('skipped');
    expectTrials(place);
  },
);

describe.each(
  casesOfTier(
    [
      ['the CPU', HOST, { IREE_TUNED_BUDGET: '300' }, null],
      // Without searches of single workloads there are no rounds on Vulkan, so the budget ends the tuning.
      ['Vulkan', LLVMPIPE_FLAGS, { IREE_TUNED_DEVICE: 'vulkan', IREE_TUNED_BUDGET: '60' }, whyNoVulkan()],
    ] as const,
    1,
  ),
)('on %s', { timeout: 240_000 }, (_, flags, env, whyNot) => {
  test.skipIf(isWithout(whyNot))(
    'all workloads of a program are tried in each round, and the next build knows them',
    async () => {
      const place = Workplace.real(env);
      const tools = { env: flags === HOST ? { IREE_TUNED_COMPILER: oneBatch(place) } : {} };
      place.write('in.mlir', productsOf(SIZES));
      const first = await place.explain([...flags, 'in.mlir', '-o', 'out.vmfb'], tools);
      expect(first.explanation.operations.map(({ outcome }) => outcome)).not.toContain('skipped');
      expectTrials(place);
      // Every shipped configuration was compared with the default.
      for (const { equal } of first.explanation.program?.functions ?? []) expect(equal).toBe(true);
      // The build that timed the dispatches and the next build explain their times.
      const second = await place.explain([...flags, 'in.mlir', '-o', 'out.vmfb'], tools);
      for (const { time } of [first.explanation, second.explanation]) {
        expect(time!.decided + time!.undecided + time!.untuned).toBeCloseTo(1);
        expect(time!.untuned).toBeLessThan(0.5);
      }
      const { stdout } = await place.tuned(['explain', 'in.mlir', '--', ...flags], {
        env: { ...tools.env, ...WITHOUT_RATES.env },
      });
      expect(stdout).toMatch(/Of the program's time, as it was timed last, decisions cover \d+%/);
    },
  );
});
