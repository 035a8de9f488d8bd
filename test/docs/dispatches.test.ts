// The table of dispatches in docs/troubleshooting.md shows the compiler's pipelines and our decisions. `npx vitest run test/docs -u`
// writes it into the page.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { dispatchWork } from '../../src/workload/dispatch/from-configured.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { code, pageWith, table } from './tables.ts';
import { isReason } from '../../src/system/reason.ts';

/** Without a CPU: the table does not depend on the machine. */
const FLAGS = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'];

const T = 'tensor<64x500x120xf32>';
const map = (dimensions: string, ...results: readonly string[]) =>
  `indexing_maps = [${results.map((result) => `affine_map<(${dimensions}) -> (${result})>`).join(', ')}]`;

/** Work of a program: the function's parameters, its result, and its text. */
interface Work {
  readonly what: string;
  readonly parameters: string;
  readonly result: string;
  readonly text: string;
}

const softmax = (type: string, empty: string): Omit<Work, 'what'> => ({
  parameters: `%x: ${type}`,
  result: type,
  text: `${empty}
  %r = linalg.softmax dimension(2) ins(%x : ${type}) outs(%e : ${type}) -> ${type}`,
});

const attentionMaps = map('b, m, n, k1, k2', ...['b, m, k1', 'b, k2, k1', 'b, k2, n', '', 'b, m, n']);
const HEADS = 'tensor<8x128x64xf32>';
const ROWS = 'tensor<512x100xf32>';

const WORKS: readonly Work[] = [
  { what: 'softmax', ...softmax(T, `%e = tensor.empty() : ${T}`) },
  {
    what: 'softmax of dynamic size, `--iree-tuned-dim=m=1,128`',
    ...softmax('tensor<64x?x120xf32>', '%e = tensor.empty(%size) : tensor<64x?x120xf32>'),
    parameters: '%x: tensor<64x?x120xf32>, %size: index',
  },
  {
    what: 'attention in its own form',
    parameters: `%q: ${HEADS}, %k: ${HEADS}, %v: ${HEADS}`,
    result: HEADS,
    text: `%scale = arith.constant 0.125 : f32
  %e = tensor.empty() : ${HEADS}
  %r = iree_linalg_ext.attention <${attentionMaps}> ins(%q, %k, %v, %scale : ${HEADS}, ${HEADS}, ${HEADS}, f32) outs(%e : ${HEADS}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${HEADS}`,
  },
  {
    what: 'reduction',
    parameters: `%x: ${T}`,
    result: 'tensor<64x500xf32>',
    text: `%z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x500xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<64x500xf32>) -> tensor<64x500xf32>
  %r = linalg.reduce {arith.addf} ins(%x : ${T}) outs(%i : tensor<64x500xf32>) dimensions = [2]`,
  },
  {
    what: 'element-wise work',
    parameters: `%x: ${T}, %y: ${T}`,
    result: T,
    text: `%e = tensor.empty() : ${T}
  %r = linalg.map {arith.mulf} ins(%x, %y : ${T}, ${T}) outs(%e : ${T})`,
  },
  {
    what: 'transpose',
    parameters: `%x: ${T}`,
    result: 'tensor<64x120x500xf32>',
    text: `%e = tensor.empty() : tensor<64x120x500xf32>
  %r = linalg.transpose ins(%x : ${T}) outs(%e : tensor<64x120x500xf32>) permutation = [0, 2, 1]`,
  },
  {
    what: 'pooling, channels innermost',
    parameters: '%x: tensor<1x114x114x64xf32>, %w: tensor<3x3xf32>',
    result: 'tensor<1x112x112x64xf32>',
    text: `%z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x112x112x64xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x112x112x64xf32>) -> tensor<1x112x112x64xf32>
  %r = linalg.pooling_nhwc_max ins(%x, %w : tensor<1x114x114x64xf32>, tensor<3x3xf32>) outs(%i : tensor<1x112x112x64xf32>) -> tensor<1x112x112x64xf32>`,
  },
  {
    what: 'gather',
    parameters: `%x: tensor<1000x768xf32>, %i: tensor<128xi32>`,
    result: 'tensor<128x768xf32>',
    text: `%e = tensor.empty() : tensor<128x768xf32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<1000x768xf32>, tensor<128xi32>) outs(%e : tensor<128x768xf32>) -> tensor<128x768xf32>`,
  },
  {
    what: 'gather as element-wise work (`onnx.Gather`, embeddings)',
    parameters: `%x: tensor<1000x768xf32>, %i: tensor<128xi64>`,
    result: 'tensor<128x768xf32>',
    text: `%e = tensor.empty() : tensor<128x768xf32>
  %r = linalg.generic {${map('a, b', 'a', 'a, b')}, iterator_types = ["parallel", "parallel"]} ins(%i : tensor<128xi64>) outs(%e : tensor<128x768xf32>) {
  ^bb0(%row: i64, %out: f32):
    %a = arith.index_cast %row : i64 to index
    %b = linalg.index 1 : index
    %one = tensor.extract %x[%a, %b] : tensor<1000x768xf32>
    linalg.yield %one : f32
  } -> tensor<128x768xf32>`,
  },
  {
    what: 'scatter',
    parameters: `%x: ${ROWS}, %u: tensor<64x100xf32>, %i: tensor<64x1xi32>`,
    result: ROWS,
    text: `%r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : tensor<64x100xf32>, tensor<64x1xi32>) outs(%x : ${ROWS}) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> ${ROWS}`,
  },
  {
    what: 'sort',
    parameters: `%x: ${ROWS}`,
    result: ROWS,
    text: `%r = iree_linalg_ext.sort dimension(1) outs(%x : ${ROWS}) {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %less : i1
  } -> ${ROWS}`,
  },
  {
    what: 'scan',
    parameters: `%x: ${ROWS}`,
    result: ROWS,
    text: `%e = tensor.empty() : ${ROWS}
  %z = arith.constant dense<0.0> : tensor<512xf32>
  %r, %last = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : ${ROWS}) outs(%e, %z : ${ROWS}, tensor<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    iree_linalg_ext.yield %sum : f32
  } -> ${ROWS}, tensor<512xf32>`,
  },
  {
    what: 'packing',
    parameters: `%x: ${ROWS}`,
    result: 'tensor<64x100x8x1xf32>',
    text: `%e = tensor.empty() : tensor<64x100x8x1xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 1] into %e : ${ROWS} -> tensor<64x100x8x1xf32>`,
  },
  {
    what: 'a few numbers',
    parameters: '%x: tensor<64xf32>',
    result: 'tensor<64xf32>',
    text: `%e = tensor.empty() : tensor<64xf32>
  %r = linalg.map {math.exp} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)`,
  },
];

/** Work, pipeline, whether it is tuned, and the reason if not. */
async function rows(): Promise<string[][]> {
  const { rememberingCompiler } = await import('../support/remembering-compiler.ts');
  const input = join(temporaryDirectory(), 'works.mlir');
  const functions = WORKS.map(
    ({ parameters, result, text }, i) =>
      `func.func @work${i}(${parameters}) -> ${result} {\n  ${text}\n  return %r : ${result}\n}\n`,
  );
  writeFileSync(input, functions.join(''));
  const argv = [...FLAGS, '--compile-to=executable-configurations', input];
  const { stdout } = await execa(rememberingCompiler, argv, { stdin: 'ignore' });
  return WORKS.map(({ what }, i) => {
    const own = new RegExp(`^ {2}hal\\.executable \\w+ @(work${i}_dispatch_\\d+) [^]*?^ {2}\\}$`, 'gm');
    const found = [...stdout.matchAll(own)].map(([source, executable]) => {
      const pipeline = /#iree_cpu\.pipeline<(\w+)>/.exec(source)?.[1];
      const work = dispatchWork(source, { executable: executable!, digest: '0', bytes: 0 });
      return { pipeline: pipeline === undefined ? '' : code(pipeline), work };
    });
    expect(found.length, what).toBeGreaterThan(0);
    const pipelines = [...new Set(found.map(({ pipeline }) => pipeline))].join(', ');
    const why = found.flatMap(({ work }) => (isReason(work) ? [work.reason] : []));
    return [what, pipelines, why.length === 0 ? 'yes' : 'no', [...new Set(why)].join('; ')];
  });
}

test('the table of dispatches shows pipelines and decisions', { tags: ['compiler'] }, async () => {
  const { path, text, placed } = pageWith('docs/troubleshooting.md', {
    dispatches: table(['work', 'pipeline', 'tuned', 'why not'], await rows()),
  });
  expect(placed).toEqual(['dispatches']);
  await expect(text).toMatchFileSnapshot(path);
});
