// Builds that fail instead of falling back.
// In full after a change of src/wrapper/required.ts.
import { expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { misbehavingCompiler, recordedWorkplace, workplace } from './faults/support.ts';
import { HOST, oddMatmul, argv } from './support.ts';

const UNTUNED = 86;
const isInjected = '*--iree-codegen-tuning-spec-path=*';
const failing = "echo 'in.mlir:2:3: error: no such thing' >&2; exit 1";

test.each(casesOfTier(['landed', 'tuned'], 1))(
  'require=%s accepts a build with its configurations',
  async (require) => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: require });
    for (const state of ['new', 'known']) {
      if (place.has('out.vmfb')) place.remove('out.vmfb');
      expect(await place.compile(argv)).toMatchObject({ code: 0, stderr: '' });
      expect([state, place.has('out.vmfb')]).toEqual([state, true]);
    }
    const { explanation } = await place.explain(argv);
    expect(explanation.applied).toBe(require === 'landed' ? true : null);
  },
);

test(
  'require=verified refuses a build whose program was not run, and accepts one without configurations',
  { tags: 'full' },
  async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: 'verified' });
    const { code, stderr } = await place.compile(argv);
    expect(code).toBe(UNTUNED);
    expect(stderr).toMatch(
      /^iree-compile-tuned: require=verified allows no build with unverified configurations: the program is not verified: .*\n$/,
    );
    expect(place.has('out.vmfb')).toBe(false);
    const untuned = workplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: 'verified' });
    expect(await untuned.compile(argv)).toMatchObject({ code: 0 });
  },
);

test('a miss refuses the build, with the workload and the reason, and writes no output', async () => {
  const place = workplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: 'tuned' });
  const { code, stderr } = await place.compile(argv);
  expect(code).toBe(UNTUNED);
  expect(stderr).toMatch(
    /^iree-compile-tuned: require=tuned allows no build without its configurations: no configuration is known for contraction m=\d+ .*: .*budget is 0.*\n$/,
  );
  expect(place.has('out.vmfb')).toBe(false);
});

test('an input without tunable operations is compiled', async () => {
  const place = workplace({ IREE_TUNED_REQUIRE: 'landed' });
  place.write(
    'in.mlir',
    'func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }\n',
  );
  expect(await place.compile(argv)).toMatchObject({ code: 0, stderr: '' });
});

test('a failed tuned compile refuses the build, now and the next time, and keeps the old output', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_REQUIRE: 'tuned' });
  const env = misbehavingCompiler(place, isInjected, failing);
  // The record is marked then, and there is no other record.
  for (const reason of ['the tuned compile failed', 'no configuration is known for contraction']) {
    place.write('out.vmfb', 'before');
    const { code, stderr } = await place.compile(argv, { env: { ...env, IREE_TUNED_BUDGET: '0' } });
    expect(code).toBe(UNTUNED);
    expect(stderr).toContain(`require=tuned allows no build without its configurations: ${reason}`);
    expect(place.read('out.vmfb').toString()).toBe('before');
  }
});

test('an input that does not compile ends as with the compiler', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_REQUIRE: 'tuned', IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', `${oddMatmul}func.func @broken() -> f32 { return }\n`);
  const { code, explanation } = await place.explain(argv);
  expect([code, explanation.code]).toEqual([1, 'input-does-not-compile']);
});

test('a frozen lock file refuses a build, too', { tags: 'full' }, async () => {
  const place = await recordedWorkplace();
  await place.said(['lock', 'in.mlir', '--', ...HOST]);
  const env = misbehavingCompiler(place, isInjected, failing);
  const frozen = [...argv, '--iree-tuned-frozen'];
  expect(await place.compile(frozen)).toMatchObject({ code: 0, stderr: '' });
  place.remove('cache');
  const { code, stderr } = await place.compile(frozen, { env });
  expect(code).toBe(UNTUNED);
  expect(stderr).toContain('a frozen lock file allows no build without its configurations');
  // Without the frozen lock file the build goes on with a message.
  place.remove('cache');
  const { explanation } = await place.explain(argv, { env });
  expect(explanation.code).toBe('tuned-compile-failed');
});
