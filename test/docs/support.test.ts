// The tables of docs/troubleshooting.md show the decision of the code for an operation of each kind. `npx vitest run test/docs/support.test.ts -u`
// writes them into the page.
// In full after a change of src/form, src/input, src/workload.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Operation } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { rows as KNOWN } from '../../grammar/src/table.ts';
import { customForm } from '../../grammar/test/fixtures.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { readConvolution, type Convolution } from '../../src/form/convolution.ts';
import { kindOf } from '../../src/form/rewritable.ts';
import { formsSpec, REWRITE } from '../../src/form/spec.ts';
import { rootsIn } from '../../src/input/dispatches.ts';
import { readFlow } from '../../src/input/flow.ts';
import { classify, isTunable, type Skipped } from '../../src/input/operation.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { pipelineFlags, rewritingPasses } from '../../src/spec/pipeline.ts';
import { windowedForm } from '../../src/workload/contraction/windows.ts';
import type { TunedSizes } from '../../src/workload/sizes.ts';
import { mayBecomeWork, rootFormOf } from '../../src/workload/workload.ts';
import { neighboursIn } from '../form/neighbours.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { PRELUDES, FRONT_ENDS, nameOf } from './front-ends.ts';
import {
  operationsIn,
  only,
  product,
  GENERICS,
  layoutOf,
  type Example,
  asWritten,
  inDispatch,
  IN_BOTH_SIZES,
  CHANNELS_FIRST,
  functionOf,
} from './operations.ts';
import { code, pageWith, table } from './tables.ts';
import { hasDispatchesInLinalg, hasDispatchesToNormalise } from '../../src/input/scan.ts';

const NO = 'no';

// Tiles of an operation's loops.
const AS_MATMUL = 'tuned as a matmul';
const AS_CONVOLUTION = 'tuned as a convolution';
const ELEMENT_WISE = 'none: element-wise';
const DEFAULT = 'default';

// Contractions.

function contractionCells(operation: Operation, sizes: TunedSizes = {}): [tuned: string, why: string] {
  const [found] = classify([operation], sizes);
  if (isTunable(found!)) return ['yes', ''];
  return mayBecomeWork(operation)
    ? ['yes', 'the compiler takes the zero points apart']
    : [NO, code(found!.reason)];
}

const contractions = () =>
  table(
    ['operation', 'tuned', 'why not, or how'],
    [
      ...KNOWN.filter(({ kind }) => kind === 'contraction').map(({ name }) => [
        code(name),
        ...contractionCells(only(customForm(name))),
      ]),
      ...GENERICS.map(([what, options, sizes]) => [
        `${code('linalg.generic')}: ${what}`,
        ...contractionCells(only(product(options)), sizes),
      ]),
    ],
  );

// Convolutions.

/** The kind of tiles of an operation in a dispatch. */
function tilesOf(text: string): string {
  const [operation] = operationsIn(text);
  // A depthwise filter of one element is element-wise.
  const form = operation === undefined ? null : rootFormOf(operation);
  if (form === null || llvmCpu.tuning(form.workload).families({ wholeProgram: false }).length === 0)
    return DEFAULT;
  return windowedForm(operation!) === null ? AS_MATMUL : AS_CONVOLUTION;
}

function convolutionOf(example: Example): Convolution | null {
  const before = example.isTransposed === true ? '  %b = linalg.transpose\n' : '';
  const text = before + asWritten(example);
  return readConvolution(operationsIn(text).at(-1)!, Buffer.from(text));
}

/** The form of a program's convolution; null for none. */
const formOf = (convolution: Convolution | null): string | null =>
  convolution === null
    ? null
    : (kindOf(convolution).formsOf(convolution, neighboursIn('alone'))[0]?.name ?? null);

/** The kind of tiles of a form's operations. */
function tilesInForm(convolution: Convolution, form: string): string {
  const made = operationsIn(formsSpec([{ operation: convolution, form }])).map((operation) => {
    if (operation.kind !== 'convolution')
      return isTunable(classify([operation], {})[0]!) ? AS_MATMUL : DEFAULT;
    const { name, operands } = operation;
    const shapes = operands.map(({ type }) => (type.kind === 'tensor' ? type.shape! : []));
    const letters = layoutOf(name).flatMap((own, i) =>
      Array.from(own, (letter, d) => [letter, shapes[i]![d]!] as const),
    );
    return tilesOf(inDispatch({ name, size: shapes[1]![0]!, sizes: Object.fromEntries(letters) }));
  });
  return made.length === 0 ? ELEMENT_WISE : [...new Set(made)].join(', ');
}

/** The form, and its tiles. */
function convolutionCells(example: Example): [form: string, tiles: string] {
  const convolution = convolutionOf(example);
  const form = formOf(convolution);
  if (form !== null) return [code(form), tilesInForm(convolution!, form)];
  return ['as written', tilesOf(inDispatch(example))];
}

const convolutions = () =>
  table(
    ['operation', 'filter of 3', 'its tiles', 'filter of 1', 'its tiles'],
    IN_BOTH_SIZES.map((both) => [code(both[0]!.name), ...both.flatMap(convolutionCells)]),
  );

const channelsFirst = () =>
  table(
    ['operation', 'filter or window', 'form', 'tiles'],
    CHANNELS_FIRST.map(([what, example]) => [code(example.name), what, ...convolutionCells(example)]),
  );

/** Operations that the compiler lowers to linalg first, by dialect. */
function dialects(): [dialect: string, names: string][] {
  const names = KNOWN.filter(({ kind }) => kind === 'to-normalise').map(({ name }) => name);
  return [...Map.groupBy(names, (name) => name.split('.', 1)[0]!)].map(([dialect, own]) => [
    code(dialect),
    own.map((name) => code(name.slice(dialect.length + 1))).join(', '),
  ]);
}

const frontEnds = () =>
  table(
    ['operation', 'layout', 'becomes', 'form', 'tiles'],
    FRONT_ENDS.map(({ name, layout, becomes }) => [
      ...[code(name), layout, code(nameOf(becomes))],
      ...(typeof becomes === 'string' ? ['as written', AS_MATMUL] : convolutionCells(becomes)),
    ]),
  );

// Others.

/** Work that is tuned as a whole, in all its spellings. */
const OTHERS: readonly (readonly [what: string, names: readonly string[]])[] = [
  ['pooling, channels innermost', ['linalg.pooling_nhwc_max', 'linalg.pooling_nhwc_sum']],
  ['softmax', ['linalg.softmax', 'onnx.Softmax', 'torch.aten.softmax.int']],
  ['fused attention', ['iree_linalg_ext.attention', 'torch.aten.scaled_dot_product_attention']],
  ['reductions', ['linalg.reduce', 'stablehlo.reduce', 'torch.aten.sum.dim_IntList', 'onnx.ReduceSum']],
  ['gathers', ['linalg.gather', 'torch.aten.gather', 'onnx.Gather']],
  ['transposes', ['torch.aten.permute', 'onnx.Transpose', 'stablehlo.transpose']],
];

/** Whether a build searches a text with this operation for dispatches. */
function isTunedAsWhole(name: string): boolean {
  const text = Buffer.from(name.startsWith('onnx.') ? `"${name}"` : name);
  return hasDispatchesInLinalg(text) || hasDispatchesToNormalise(text);
}

const others = () =>
  table(
    ['operation', 'such as', 'looked for'],
    OTHERS.map(([what, names]) => [
      ...[what, names.map(code).join(', ')],
      names.every(isTunedAsWhole) ? 'yes' : NO,
    ]),
  );

test('the tables of docs/troubleshooting.md show the decisions of the code', async () => {
  const tables: Readonly<Record<string, string>> = {
    contractions: contractions(),
    convolutions: convolutions(),
    'channels first': channelsFirst(),
    dialects: table(['dialect', 'operations'], dialects()),
    'front ends': frontEnds(),
    others: others(),
  };
  const { path, text: page, placed } = pageWith('docs/troubleshooting.md', tables);
  expect(placed).toEqual(Object.keys(tables));
  // The reason of builds for the default.
  const [untuned] = classify([only(asWritten({ name: 'linalg.conv_1d_nwc_wcf', size: 3 }))], {});
  expect(page).toContain(code((untuned as Skipped).reason));
  await expect(page).toMatchFileSnapshot(path);
});

/** The tunable work in each function of a program at the end of `flow`. */
function tunedIn(flow: Buffer): Map<string, string> {
  const tuned = rootsIn(readFlow(flow));
  const functions = flow.toString('latin1').matchAll(/^ {2}util\.func public @(\w+)\([^]*?^ {2}\}/gm);
  return new Map(
    [...functions].map(([text, name]) => {
      const own = [...text.matchAll(/flow\.dispatch @([\w.$-]+)::/g)].flatMap(
        ([, one]) => tuned.get(one!) ?? [],
      );
      const isMoved = own.some(({ workload }) => workload.windows !== undefined);
      return [name!, own.length === 0 ? DEFAULT : isMoved ? AS_CONVOLUTION : AS_MATMUL];
    }),
  );
}

describe('the real compiler', { tags: ['compiler'] }, () => {
  const outputOf = async (text: string, ...flags: readonly string[]): Promise<Buffer> => {
    const { rememberingCompiler } = await import('../support/remembering-compiler.ts');
    const input = join(temporaryDirectory(), 'input.mlir');
    writeFileSync(input, text);
    const argv = [...HOST_FLAGS, ...flags, input];
    return Buffer.from((await execa(rememberingCompiler, argv, { stdin: 'ignore' })).stdout);
  };

  test('gives convolutions the tiles of the tables', { tags: 'full' }, async () => {
    const examples = [...IN_BOTH_SIZES.flat(), ...CHANNELS_FIRST.map(([, example]) => example)];
    const text = examples.map((example, i) => functionOf(example, `f${i}`)).join('');
    const choices = examples.flatMap((example) => {
      const convolution = convolutionOf(example);
      const form = formOf(convolution);
      return form === null ? [] : [{ operation: convolution!, form }];
    });
    const spec = join(temporaryDirectory(), 'forms.mlir');
    writeFileSync(spec, formsSpec(choices));
    const passes = pipelineFlags([rewritingPasses(spec, REWRITE)]);
    const tuned = tunedIn(await outputOf(text, '--compile-to=flow', ...passes));
    const said = examples.map((example) => convolutionCells(example)[1].replace(ELEMENT_WISE, DEFAULT));
    const about = (tiles: readonly (string | undefined)[]) =>
      examples.map((example, i) => `${JSON.stringify(example)}: ${String(tiles[i])}`);
    expect(about(examples.map((_, i) => tuned.get(`f${i}`)))).toEqual(about(said));
  });

  test.each([...Map.groupBy(FRONT_ENDS, ({ name }) => name.split('.', 1)[0]!)])(
    'makes of %s the operation in the table',
    async (dialect, rows) => {
      const functions = rows.map(({ types, text }, i) => {
        const result = types.at(-1)!;
        const parameters = types.slice(0, -1).map((type, d) => `%${'abc'.charAt(d)}: ${type}`);
        const version = dialect === 'onnx' ? ' attributes {torch.onnx_meta.opset_version = 17 : si64}' : '';
        return `func.func @f${i}(${parameters.join(', ')}) -> ${result}${version} {\n${PRELUDES[dialect] ?? ''}\n%r = ${text}\nreturn %r : ${result}\n}\n`;
      });
      const made = operationsIn((await outputOf(functions.join(''), '--compile-to=input')).toString());
      const names = made.map(({ name }) => name).filter((name) => name !== 'linalg.generic');
      expect(names).toEqual(rows.map(({ becomes }) => nameOf(becomes)));
    },
  );
});
