// Builds that fail instead of falling back.
import { expect, test } from 'vitest';
import { argv, misbehavingCompiler, recordedWorkplace, workplace } from './faults/support.ts';
import { HOST } from './support.ts';

const UNTUNED = 86;
const isInjected = '*--iree-codegen-tuning-spec-path=*';
const failing = "echo 'in.mlir:2:3: error: no such thing' >&2; exit 1";

test.each(['tuned', 'landed'])('require=%s is content with what has its configurations', async (require) => {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: require });
  for (const state of ['new', 'known']) {
    if (place.has('out.vmfb')) place.remove('out.vmfb');
    expect(await place.compile(argv)).toMatchObject({ code: 0, stderr: '' });
    expect([state, place.has('out.vmfb')]).toEqual([state, true]);
  }
  const { explanation } = await place.explain(argv);
  expect(explanation.applied).toBe(require === 'landed' ? true : null);
});

test('a miss ends it, with the workload and the reason, and writes nothing', async () => {
  const place = workplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: 'tuned' });
  const { code, stderr } = await place.compile(argv);
  expect(code).toBe(UNTUNED);
  expect(stderr).toMatch(
    /^iree-compile-tuned: require=tuned allows no build without its configurations: nothing is known of contraction m=\d+ .*: .*budget is 0.*\n$/,
  );
  expect(place.has('out.vmfb')).toBe(false);
});

test('an input without anything to tune is compiled as ever', async () => {
  const place = workplace({ IREE_TUNED_REQUIRE: 'landed' });
  place.write(
    'in.mlir',
    'func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }\n',
  );
  expect(await place.compile(argv)).toMatchObject({ code: 0, stderr: '' });
});

test('a tuned compile that fails ends it, now and the next time, and leaves what was there', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_REQUIRE: 'tuned' });
  const env = misbehavingCompiler(place, isInjected, failing);
  // Its record is marked then, and nothing else is known.
  for (const reason of ['the tuned compile failed', 'nothing is known of contraction']) {
    place.write('out.vmfb', 'before');
    const { code, stderr } = await place.compile(argv, { env: { ...env, IREE_TUNED_BUDGET: '0' } });
    expect(code).toBe(UNTUNED);
    expect(stderr).toContain(`require=tuned allows no build without its configurations: ${reason}`);
    expect(place.read('out.vmfb').toString()).toBe('before');
  }
});

test('what does not compile at all ends as the compiler does', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_REQUIRE: 'tuned' });
  const env = misbehavingCompiler(place, '*', failing);
  expect(await place.compile(argv, { env: { ...env, IREE_TUNED_BUDGET: '0' } })).toMatchObject({ code: 1 });
});

test('a frozen lock file is one, too', async () => {
  const place = await recordedWorkplace();
  expect((await place.tuned(['lock', 'in.mlir', '--', ...HOST])).code).toBe(0);
  const env = misbehavingCompiler(place, isInjected, failing);
  const frozen = [...argv, '--iree-tuned-frozen'];
  expect(await place.compile(frozen)).toMatchObject({ code: 0, stderr: '' });
  place.remove('cache');
  const { code, stderr } = await place.compile(frozen, { env });
  expect(code).toBe(UNTUNED);
  expect(stderr).toContain('a frozen lock file allows no build without its configurations');
  // Without being frozen it goes on, and says so.
  place.remove('cache');
  const { explanation } = await place.explain(argv, { env });
  expect(explanation.reason).toBe('the tuned compile failed');
});
