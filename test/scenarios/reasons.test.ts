// Reasons of builds that no other scenario has.
// In full after a change of src/system/reason.ts.
import { expect, test } from 'vitest';
import { misbehavingCompiler, recordedWorkplace, workplace } from './faults/support.ts';
import { SOFTMAX } from '../support/dispatch-programs.ts';
import { decisionsOf, Workplace, argv } from './support.ts';

test('a command without a target gets the message of the compiler', async () => {
  const place = workplace();
  const command = ['in.mlir', '-o', 'out.vmfb'];
  const { explanation, ...ours } = await place.explain(command);
  expect(explanation.code).toBe('target-unknown');
  expect(ours).toEqual(await place.stock(command));
  expect(ours.code).toBe(1);
});

test('an operation whose result is not used is skipped, because the compiler removes it', async () => {
  const place = workplace({ IREE_TUNED_ON_MISS: 'record', IREE_TUNED_INJECT: 'substitute' });
  place.write('in.mlir', place.read('in.mlir').toString().replace('return %result', 'return %init'));
  const explanation = await place.built(argv);
  expect(decisionsOf(explanation)).toEqual(['skipped: not-generated']);
  expect(await place.isStock()).toBe(true);
});

test('a build whose executables cannot be read substitutes none, and is stock', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_INJECT: 'substitute', IREE_TUNED_BUDGET: '0' });
  const env = misbehavingCompiler(place, '*--iree-hal-dump-executable-sources-to*', 'exit 1');
  const explanation = await place.built(argv, { env });
  expect(explanation).toMatchObject({ applied: false, code: 'not-substitutable' });
  expect(await place.isStock()).toBe(true);
});

test(
  'a dispatch whose program cannot be run has no certain gain, and later builds do not try again',
  { tags: 'full' },
  async () => {
    const place = Workplace.simulated({}, { programs: 'failing' });
    place.write('in.mlir', SOFTMAX);
    expect(decisionsOf(await place.built(argv))).toEqual(['default: no-certain-gain']);
    const again = await place.built(argv);
    expect(decisionsOf(again)).toEqual(['default: undecided']);
    expect(again.seconds.tuning).toBe(0);
  },
);
