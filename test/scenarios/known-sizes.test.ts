// Functions with dynamic sizes get copies for the sizes of the user. Runs of programs are simulated, their results are real.
// In full after a change of src/running/variants, src/form.
import { describe, expect, test } from 'vitest';
import { decisionsOf, HOST, matmulModule, Workplace } from './support.ts';

/** Makes the program as written slow: it takes the time of 32 programs. */
const SLOW_AS_WRITTEN = `case $module in */written.vmfb)
  [ -e "$module.slow" ] || { for i in $(seq 32); do cat "$module.lines"; done >"$module.slow"; cp "$module.slow" "$module.lines"; } ;;
esac`;

const BUILD = [...HOST, 'in.mlir', '-o', 'out.vmfb', '--iree-tuned-dim=m=5,61'];
const COPIES = ['5x71, 71x67, 5x67', '61x71, 71x67, 61x67'];

async function expectSameResults(place: Workplace): Promise<void> {
  await place.isStock();
  for (const m of [1, 5, 61, 64]) {
    const shapes = [`${m}x71`, '71x67', `${m}x67`];
    expect(await place.outputsOf('out.vmfb', shapes)).toEqual(await place.outputsOf('stock.vmfb', shapes));
  }
}

describe('a program that is slow at dynamic sizes', { timeout: 120_000 }, () => {
  const place = Workplace.simulated();
  place.write('in.mlir', matmulModule('?', 67, 71));
  place.write('hook', SLOW_AS_WRITTEN);

  test('gets copies, which are tuned, and is right at all sizes', async () => {
    const { explanation } = await place.explain(BUILD);
    expect(explanation.forms).toMatchObject({ used: true, code: 'forms-better' });
    expect(explanation.forms!.operations.map(({ operation }) => operation)).toEqual(COPIES);
    expect(decisionsOf(explanation).sort()).toEqual([
      'skipped: other-sizes',
      ...['tuned: faster', 'tuned: faster'],
    ]);
    expect(explanation.applied).toBe(true);
    await expectSameResults(place);
  });

  test('is built to the same bytes from the database alone, from its own text or standard input', async () => {
    const built = place.read('out.vmfb');
    place.remove('cache');
    expect(await place.compile([...BUILD, '--iree-tuned-budget=0'])).toMatchObject({ code: 0, stderr: '' });
    expect(place.read('out.vmfb').equals(built)).toBe(true);
    const piped = BUILD.map((one) => (one === 'in.mlir' ? '-' : one));
    const stdin = place.read('in.mlir');
    expect(await place.compile([...piped, '--iree-tuned-budget=0'], { stdin })).toMatchObject({ code: 0 });
    await expectSameResults(place);
  });

  test('is locked with its copies', async () => {
    expect(await place.compile([...BUILD, '--iree-tuned-budget=0'])).toMatchObject({ code: 0 });
    const built = place.read('out.vmfb');
    const env = { IREE_TUNED_DIM: 'm=5,61' };
    expect(await place.tuned(['lock', 'in.mlir', '--', ...HOST], { env })).toMatchObject({
      code: 0,
      stderr: '',
    });
    for (const name of ['cache', 'data']) place.remove(name);
    expect(await place.compile([...BUILD, '--iree-tuned-frozen'])).toMatchObject({ code: 0, stderr: '' });
    expect(place.read('out.vmfb').equals(built)).toBe(true);
  });
});

test('copies and the forms of their operations are one trial', async () => {
  const place = Workplace.simulated();
  const [image, filter, result] = ['?x3x12x12', '4x3x3x3', '?x4x10x10'].map(
    (shape) => `tensor<${shape}xf32>`,
  );
  place.write(
    'in.mlir',
    `func.func @main(%image: ${image!}, %filter: ${filter!}, %init: ${result!}) -> ${result!} {
  %0 = linalg.conv_2d_nchw_fchw ins(%image, %filter : ${image!}, ${filter!}) outs(%init : ${result!}) -> ${result!}
  return %0 : ${result!}
}
`,
  );
  place.write('hook', SLOW_AS_WRITTEN);
  const { explanation } = await place.explain([
    ...HOST,
    'in.mlir',
    '-o',
    'out.vmfb',
    '--iree-tuned-dim=m=2,5',
  ]);
  expect(explanation.forms).toMatchObject({ used: true, code: 'forms-better' });
  const forms = explanation.forms!.operations.map(({ form }) => form);
  expect(forms.slice(0, 2)).toEqual(['copy of known sizes', 'copy of known sizes']);
  expect(forms.length).toBe(4);
  await place.isStock();
  for (const batch of [1, 2, 5]) {
    const shapes = [`${batch}x3x12x12`, '4x3x3x3', `${batch}x4x10x10`];
    expect(await place.outputsOf('out.vmfb', shapes)).toEqual(await place.outputsOf('stock.vmfb', shapes));
  }
}, 120_000);

test(
  'a program that is fast at dynamic sizes stays as it is, and is tuned at these sizes',
  { timeout: 120_000, tags: 'full' },
  async () => {
    const place = Workplace.simulated();
    place.write('in.mlir', matmulModule('?', 67, 71));
    const { explanation } = await place.explain(BUILD);
    expect(explanation.forms).toMatchObject({ used: false, code: 'forms-worse' });
    expect(explanation.operations).toMatchObject([
      { outcome: 'tuned', workload: 'contraction m=?(5,61) n=67 k=71 f32,f32->f32 mk,kn->mn' },
    ]);
    const again = BUILD.map((one) => one.replace('5,61', '61,5'));
    expect((await place.explain(again)).explanation.operations).toMatchObject([{ outcome: 'hit' }]);
    expect(await place.isStock()).toBe(false);
    await expectSameResults(place);
  },
);
