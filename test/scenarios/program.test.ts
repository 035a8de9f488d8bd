// Whole programs leave out configurations that are faster alone and slower in the program.
// In full after a change of src/running/program-notes.ts, src/report/terminal.ts.
import { expect, test } from 'vitest';
import type { ProgramVerdict } from '../../src/program/verdict.ts';
import type { ExplainedOperation } from '../../src/report/explain.ts';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../src/backend/configuration.ts';
import { TILE } from '../store/samples.ts';
import { misbehavingCompiler, record } from './faults/support.ts';
import { decisionsOf, HOST, matmulModule, oddMatmul, WITHOUT_RATES, Workplace } from './support.ts';
import { tiles } from '../support/backend.ts';

/** One element at a time: slower than every choice of the compiler. */
const slow = tiles([1, 1, 0], [1, 1, 0], [0, 0, 1]);

/** A place whose input has a record. */
async function recordedPlace(
  text: string,
  configuration: Configuration = TILE,
  programs: 'real' | 'simulated' = 'real',
): Promise<Workplace> {
  const place = Workplace.simulated({}, { programs });
  place.write('in.mlir', text);
  await record(place, () => configuration);
  return place;
}

/** With an outdated record, for example from another version of the firmware. */
const slowedPlace = (programs: 'real' | 'simulated') =>
  recordedPlace(matmulModule(64, 64, 64), slow, programs);

const LEFT_OUT = {
  workload: expect.stringMatching(/m=64 n=64 k=64/) as string,
  code: 'worse-in-program',
};

test('a configuration that makes the program slower is left out by this build and all later builds', async () => {
  const place = await slowedPlace('real');
  const { compiler, ran } = place.watchedTools();
  const build = async () =>
    place.explain([...HOST, 'in.mlir', '-o', 'out.vmfb'], { env: { IREE_TUNED_COMPILER: compiler } });
  const { explanation } = await build();
  const expected = [{ outcome: 'default', configuration: null, code: LEFT_OUT.code }];
  expect(explanation).toMatchObject({ route: 'none', operations: expected });
  expect(explanation.program).toMatchObject({
    ...{ functions: [], skipped: [], leftOut: [LEFT_OUT], injected: false, code: 'worse-in-program' },
  });
  expect(ran().filter((line) => line.includes('--dispatch_statistics')).length).toBeGreaterThan(4);

  const again = await build();
  expect(again.explanation).toMatchObject({ route: 'none', operations: expected, program: null });
  expect(ran().filter((line) => !line.startsWith('iree-compile'))).toEqual([]);
  expect(await place.isStock()).toBe(true);
});

test(
  'the compiler prints a program for its notes only if the build can use or write one',
  { tags: 'full' },
  async () => {
    const place = await recordedPlace(oddMatmul, TILE, 'simulated');
    const { compiler, ran } = place.watchedTools(place.env['IREE_TUNED_COMPILER']);
    const env = { IREE_TUNED_COMPILER: compiler };
    const build = async (budget: string, file: string) => {
      const { explanation } = await place.explain([...HOST, budget, file, '-o', 'out.vmfb'], { env });
      const prints = ran().filter((line) => line.includes('--mlir-print-op-generic')).length;
      return { prints, outcome: explanation.operations[0]!.outcome };
    };
    const none = '--iree-tuned-budget=0';
    place.write('renamed.mlir', oddMatmul.replaceAll('@main', '@other'));
    expect(await build(none, 'in.mlir')).toEqual({ prints: 0, outcome: 'hit' });
    expect(await build('--iree-tuned-budget=30', 'in.mlir')).toEqual({ prints: 1, outcome: 'hit' });
    expect(await build(none, 'renamed.mlir')).toEqual({ prints: 1, outcome: 'hit' });
  },
);

test('iree-tuned tune --verify-program finds it, too', { tags: 'full' }, async () => {
  const place = await slowedPlace('simulated');
  place.write('slower', '.');
  const { operations, program } = await place.asked<{
    operations: ExplainedOperation[];
    program: ProgramVerdict;
  }>(['tune', 'in.mlir', '--verify-program', '--json']);
  expect(program).toMatchObject({ leftOut: [LEFT_OUT], injected: false });
  expect(operations).toMatchObject([{ outcome: 'default', code: LEFT_OUT.code }]);
  expect(await place.said(['explain', 'in.mlir'], WITHOUT_RATES)).toContain(program.leftOut[0]!.reason);
});

test(
  'a configuration that breaks the compile of the program is left out at once',
  { tags: 'full' },
  async () => {
    const place = await recordedPlace(oddMatmul);
    const deed = `echo '${place.path('cache')}/specs/a.mlir:8:6: error: too much' >&2; exit 1`;
    const env = misbehavingCompiler(place, '*--iree-codegen-tuning-spec-path=*', deed);
    const argv = [...HOST, '--iree-tuned-inject=spec', 'in.mlir', '-o', 'out.vmfb'];
    for (const isFirst of [true, false]) {
      const explanation = await place.built(argv, { env });
      expect(explanation.route).toBe('none');
      expect(decisionsOf(explanation)).toEqual(['default: worse-in-program']);
      expect(explanation.program === null).toBe(!isFirst);
    }
    expect(await place.isStock()).toBe(true);
  },
);

test('a program with weights in a parameter file is run on random weights', { tags: 'full' }, async () => {
  const weights = 'util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<71x67xf32>\n';
  const load = '  %rhs = util.global.load @w : tensor<71x67xf32>\n';
  const text = matmulModule(61, 67, 71).replace('%rhs: tensor<71x67xf32>, ', '').replace('{\n', `{\n${load}`);
  const place = await recordedPlace(weights + text);
  // Its product has another form on processors with 16 registers.
  const env = { IREE_TUNED_INJECT: 'spec' };
  expect(await place.said(['tune', 'in.mlir', '--verify-program'], { env })).toMatch(
    // On some processors its tiles are slower in the program. Both outcomes need a run.
    /\n@main .*x +equal\n|its dispatches take [\d.]+ us instead of/,
  );
});

/** Programs that cannot be called with random inputs. */
const uncallable = matmulModule(61, 67, 71).replace('%init:', '%other: tensor<?xf32>, %init:');

test.each([
  [
    'the default is best',
    matmulModule(61, 67, 71),
    DEFAULT_CONFIGURATION,
    'The program is compiled without tuning: no operation has a configuration better than the default.',
  ],
  [
    'no function can be called',
    uncallable,
    TILE,
    'The program is tuned, and was not verified: none of its functions can be run.\n' +
      '@main was not run: its sizes are dynamic, and --iree-tuned-dim gives none for arg2.0',
  ],
])('a program in which %s gets this reason', { tags: 'full' }, async (_, text, configuration, said) => {
  const place = await recordedPlace(text, configuration);
  const told = await place.said(['tune', 'in.mlir', '--verify-program']);
  expect(told.split('\n\n')[1]).toBe(`${said}\n`);
});
