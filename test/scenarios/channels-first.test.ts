// Convolutions with their channels first: in another form if the program is faster in it.
// In full after a change of src/running/variants, src/form/spec.ts.
import { expect, test } from 'vitest';
import { convolutionKey, type Convolution } from '../../src/form/convolution.ts';
import { casesOfTier, isFull } from '../support/needs.ts';
import { DEPTHWISE_PROGRAM } from './programs.ts';
import { flagsOfSpec, HOST, WITHOUT_RATES, Workplace, argv } from './support.ts';

const tensor = (shape: readonly number[]) => ({ shape, elementType: 'f32' });

const DEPTHWISE: Convolution = {
  name: 'linalg.depthwise_conv_2d_nchw_chw',
  image: tensor([1, 32, 66, 66]),
  filter: tensor([32, 3, 3]),
  result: tensor([1, 32, 64, 64]),
  strides: [1, 1],
  dilations: [1, 1],
};

/** Beside it, channels stay first. */
const GROUPED: Convolution = {
  name: 'linalg.conv_2d_ngchw_gfchw',
  image: tensor([1, 4, 8, 30, 30]),
  filter: tensor([4, 8, 8, 1, 1]),
  result: tensor([1, 4, 8, 30, 30]),
  strides: [1, 1],
  dilations: [1, 1],
};

const operations = [{ operation: convolutionKey(DEPTHWISE), form: 'shifted-slices' }];

/**
 * @param slower whether the written program is slower than the program in its forms
 * @param isShort whether compiles of modules stop when dispatches are configured
 */
function workplace(slower: boolean, isShort = false): Workplace {
  const place = Workplace.simulated({}, { isShort });
  place.write('in.mlir', DEPTHWISE_PROGRAM);
  if (slower) place.write('slower', '.');
  return place;
}

const isRewritten = (command: readonly string[]) =>
  command.some((flag) => /^--iree-preprocessing-pass-pipeline=.*iree_tuned_forms/.test(flag));

test('a program that is faster in other forms is compiled in them by all later builds', async () => {
  // The full tier compares the bytes. Both tiers do for copies of functions: known-sizes.test.ts.
  const place = workplace(true, !isFull);
  const used = { used: true, code: 'forms-better', operations };
  const built = async (...more: string[]) => {
    const explanation = await place.built([...argv, ...more]);
    expect(explanation.forms).toMatchObject(used);
    expect(isRewritten(explanation.command)).toBe(true);
    return { explanation, output: place.read('out.vmfb') };
  };
  const first = await built();
  expect(first.explanation).toMatchObject({ reason: null, program: { injected: true } });
  const second = await built();
  expect(second.explanation).toMatchObject({ program: null, seconds: { tuning: 0 } });
  // The verdict is in the database.
  place.remove('cache');
  const alone = await built('--iree-tuned-budget=0');
  expect(alone.explanation.program).toBeNull();
  if (isFull) for (const { output } of [second, alone]) expect(output.equals(first.output)).toBe(true);

  const { stdout, stderr } = await place.tuned(['explain', 'in.mlir', '--', ...HOST], WITHOUT_RATES);
  expect(stdout + stderr).toContain('Other forms are used (1 as shifted-slices): ');
});

test('a lock file and a spec have the forms of a program', { tags: 'full' }, async () => {
  const place = workplace(true);
  await place.explain(argv);
  const output = place.read('out.vmfb');
  await place.tuned(['lock', 'in.mlir', '--', ...HOST]);
  await place.tuned(['spec', 'in.mlir', '-o', 'spec.mlir', '--', ...HOST]);
  const flags = flagsOfSpec(place.read('spec.mlir'));
  await place.stock([...HOST, ...flags, 'in.mlir', '-o', 'by-spec.vmfb']);
  expect(place.read('by-spec.vmfb')).toEqual(output);

  // The lock file decides without database and cache.
  for (const name of ['cache', 'data']) place.remove(name);
  const explanation = await place.built([...argv, '--iree-tuned-frozen']);
  expect(explanation).toMatchObject({ forms: { used: true, reason: 'locked', operations } });
  expect(place.read('out.vmfb')).toEqual(output);

  // A lock on a machine without a verdict keeps the forms. An unknown form is ignored.
  const locked = place.read('iree-tuned.lock').toString();
  await place.tuned(['lock', 'in.mlir', '--', ...HOST]);
  expect(place.read('iree-tuned.lock').toString()).toBe(locked);
  place.write('iree-tuned.lock', locked.replace('"shifted-slices"', '"shifted"'));
  const unknown = await place.explain([...argv, '--iree-tuned-frozen']);
  const problem = expect.stringContaining('its operations differ') as string;
  expect(unknown).toMatchObject({ code: 0, explanation: { forms: null, lock: { problem } } });
});

test(
  'a program that is slower in other forms stays as written, and is tried once',
  { tags: 'full' },
  async () => {
    const place = workplace(false);
    place.write('hook', `echo "$module" >>'${place.path('runs')}'`);
    for (const isFirst of [true, false]) {
      const explanation = await place.built(argv);
      expect(explanation).toMatchObject({
        forms: { used: false, code: 'forms-worse', operations },
      });
      expect(isRewritten(explanation.command)).toBe(false);
      expect(place.has('runs')).toBe(isFirst);
      if (isFirst) place.remove('runs');
    }
  },
);

test('a program with different results in other forms stays as written', { tags: 'full' }, async () => {
  const place = workplace(true);
  place.write('wrong', '.');
  const { explanation } = await place.explain(argv);
  expect(explanation).toMatchObject({ route: 'none', forms: { used: false, code: 'forms-worse' } });
  expect(isRewritten(explanation.command)).toBe(false);
});

test.each([
  ['elementwise_32x64x64', GROUPED],
  ['batch_matmul_4x8x900x8', DEPTHWISE],
] as const)(
  'forms that are right alone and wrong together leave half of the operations as written (%s is wrong)',
  { tags: 'full' },
  async (wrong, right) => {
    const place = workplace(true, true);
    const grouped = 'tensor<1x4x8x30x30xf32>';
    place.write(
      'in.mlir',
      `${DEPTHWISE_PROGRAM}
func.func @main_grouped(%image: ${grouped}, %filter: tensor<4x8x8x1x1xf32>, %into: ${grouped}) -> ${grouped} {
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%image, %filter : ${grouped}, tensor<4x8x8x1x1xf32>) outs(%into : ${grouped}) -> ${grouped}
  return %0 : ${grouped}
}
`,
    );
    // The dispatch is wrong in the program only. Checks of a form alone have other names.
    place.write(
      'hook',
      `case "$module $*" in
  */stock.vmfb' '*--output=*)
    if grep -q '^main.*${wrong}' "$module.lines"; then
      for argument; do case $argument in --output=@*) printf 'another!' >"\${argument#*@}" ;; esac; done
      exit
    fi ;;
esac
`,
    );
    const { explanation } = await place.explain(argv);
    expect(explanation.forms).toMatchObject({
      used: true,
      operations: [{ operation: convolutionKey(right) }],
    });
  },
);

const asWritten: [string, string[], object | null][] = [
  ['nothing may be measured', ['--iree-tuned-budget=0'], { used: false, code: 'forms-unknown' }],
  ['the user has a pipeline', ['--iree-preprocessing-pass-pipeline=builtin.module(canonicalize)'], null],
  [
    'the budget is too small to run a program',
    ['--iree-tuned-budget=10'],
    { used: false, code: 'forms-unknown' },
  ],
  ['the user says how configurations are injected', ['--iree-tuned-inject=spec'], null],
  ['the user has data tiling', ['--iree-global-opt-data-tiling'], null],
];
test.each(casesOfTier(asWritten, 2))('a program stays as written if %s', async (_, flags, forms) => {
  const place = workplace(true, true);
  const explanation = await place.built([...argv, ...flags]);
  if (forms === null) expect(explanation.forms).toBeNull();
  else expect(explanation.forms).toMatchObject(forms);
  expect(isRewritten(explanation.command)).toBe(false);
});

test('a form that does not compile fails no build', async () => {
  const place = workplace(true, true);
  const env = place.scriptedCompiler(
    `case "$*" in *iree_tuned_forms*) echo 'forms.mlir:1:1: error: refused' >&2; exit 1 ;; esac
exec '${place.env['IREE_TUNED_COMPILER']!}' "$@"`,
  );
  const explanation = await place.built(argv, { env });
  expect(explanation).toMatchObject({ forms: { used: false } });
  expect(isRewritten(explanation.command)).toBe(false);
});

const SMALL =
  'depthwise_conv_2d_nchw_chw 1x16x34x34xf32,16x3x3xf32->1x16x32x32xf32 strides=1,1 dilations=1,1';

test.each([
  ['only the program', `${SMALL} as any:1:1`, 'func.func @main'],
  ['every compile', 'forms.mlir:1:1', 'tensor<16x3x3xf32>'],
])('a form that breaks %s costs its own operation only', { tags: 'full' }, async (_, location, broken) => {
  const place = workplace(true);
  const [other, filter] = ['tensor<1x16x34x34xf32>', 'tensor<16x3x3xf32>'];
  const result = 'tensor<1x16x32x32xf32>';
  place.write(
    'in.mlir',
    DEPTHWISE_PROGRAM.replace('%filter:', `%image1: ${other}, %filter1: ${filter}, %filter:`)
      .replace('-> tensor<1x32x64x64xf32> {', `-> (tensor<1x32x64x64xf32>, ${result}) {`)
      .replace(
        /^ {2}return .*$/m,
        `  %empty1 = tensor.empty() : ${result}
  %filled1 = linalg.fill ins(%zero : f32) outs(%empty1 : ${result}) -> ${result}
  %1 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%image1, %filter1 : ${other}, ${filter}) outs(%filled1 : ${result}) -> ${result}
  return %0, %1 : tensor<1x32x64x64xf32>, ${result}`,
      ),
  );
  // Refuses some inputs if there is a form for the second convolution.
  const env = place.scriptedCompiler(
    `for word; do
  case $word in
    *library-file-name=*iree_tuned_forms*) spec=\${word#*library-file-name=\\"} spec=\${spec%%\\"*} ;;
    *.mlir) input=$word ;;
  esac
done
if [ -n "$spec" ] && grep -q '1x16x34x34xf32,16x3x3xf32' "$spec" && grep -q '${broken}' "$input"; then
  echo '${location}: error: refused' >&2
  exit 1
fi
exec '${place.env['IREE_TUNED_COMPILER']!}' "$@"`,
  );
  const explanation = await place.built(argv, { env });
  // With the other convolution as written, another form may be faster.
  const own = [{ operation: convolutionKey(DEPTHWISE) }];
  expect(explanation.forms).toMatchObject({ used: true, operations: own });
  expect(isRewritten(explanation.command)).toBe(true);
});
