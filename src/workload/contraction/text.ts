// The MLIR text of a contraction, and the matcher of the transform dialect that finds it.
import type { Term } from 'mlir-parser-ts';
import { isFloat, elementBits } from '../element-type.ts';
import type { MatchedForm } from '../kind.ts';
import { KIND_ORDER, type DimensionKind } from '../sizes.ts';
import type { Contraction, Dimension, OperandForm } from './contraction.ts';

export const tensorType = (workload: Contraction, operand: OperandForm): string =>
  `tensor<${operand.dimensions.map((d) => `${sizeText(workload.dimensions[d]!)}x`).join('')}${operand.elementType}>`;

const sizeText = ({ size, sizes }: Dimension) => (sizes === undefined ? String(size) : '?');

/** Named operations by the form of their default maps. Their loops are in the order batch, m, n, k. */
const NAMED: Readonly<Record<string, string>> = {
  'mk,kn->mn': 'linalg.matmul',
  'bmk,bkn->bmn': 'linalg.batch_matmul',
  'mk,k->m': 'linalg.matvec',
  'k,kn->n': 'linalg.vecmat',
  'bmk,bk->bm': 'linalg.batch_matvec',
  'bk,bkn->bn': 'linalg.batch_vecmat',
  'k,k->': 'linalg.dot',
};

/** A loop with its stride, such as `d1 * 2`. */
export const term = ({ dimension, stride }: Term): string =>
  stride === 1 ? `d${dimension}` : `d${dimension} * ${stride}`;

/** A map from loops. @param results such as `d0` or `d1 * 2` */
export const affineMap = (loops: number, results: readonly string[]): string =>
  `affine_map<(${Array.from({ length: loops }, (_, i) => `d${i}`).join(', ')}) -> (${results.join(', ')})>`;

/** The maps of all operands. @param loops for each loop, the index of its dimension in the workload */
export const mapsText = (
  { dimensions, lhs, rhs, accumulator }: Contraction,
  loops: readonly number[] = [...dimensions.keys()],
): string =>
  [lhs, rhs, accumulator]
    .map((operand) =>
      affineMap(
        loops.length,
        operand.dimensions.map((d) => `d${loops.indexOf(d)}`),
      ),
    )
    .join(', ');

function namedOperation(workload: Contraction): string | null {
  const kinds = workload.dimensions.map(({ kind }) => kind);
  if (new Set(kinds).size !== kinds.length) return null;
  const letters = ({ dimensions }: OperandForm) => dimensions.map((d) => kinds[d]![0]!).join('');
  const form = `${letters(workload.lhs)},${letters(workload.rhs)}->${letters(workload.accumulator)}`;
  const named = NAMED[form];
  if (named !== undefined) return named;
  // With transposed operands, and a result in order, it is the same operation with explicit maps.
  const sorted = form
    .replace(/\b(?:bkm|km)\b/, (s) => (s.length === 3 ? 'bmk' : 'mk'))
    .replace(/nk->/, 'kn->');
  const base = NAMED[sorted];
  if (base !== 'linalg.matmul' && base !== 'linalg.batch_matmul') return null;
  return `${base} indexing_maps = [${mapsText(workload)}]`;
}

/** Lines in a region that convert `%name` from one type to another, and the name of the converted value. */
function convert(name: string, from: string, to: string): { lines: string[]; value: string } {
  if (from === to) return { lines: [], value: `%${name}` };
  const [wider, narrower] = isFloat(to) ? ['extf', 'truncf'] : ['extsi', 'trunci'];
  const resized = elementBits(from) > elementBits(to) ? narrower : wider;
  const changed = isFloat(to) ? 'sitofp' : 'fptosi';
  const operation = isFloat(from) === isFloat(to) ? resized : changed;
  return { lines: [`    %${name}x = arith.${operation} %${name} : ${from} to ${to}`], value: `%${name}x` };
}

/** Text that computes `%result` from `%lhs`, `%rhs` and `%init`. */
export function operationText(workload: Contraction, attribute: string | null): string {
  const { lhs, rhs, accumulator } = workload;
  const [lhsType, rhsType, resultType] = [lhs, rhs, accumulator].map((operand) =>
    tensorType(workload, operand),
  );
  const operands = `ins(%lhs, %rhs : ${lhsType!}, ${rhsType!}) outs(%init : ${resultType!})`;
  const named = namedOperation(workload);
  if (named !== null) {
    const dictionary = attribute === null ? '' : ` {${attribute}}`;
    return `  %result = ${named}${dictionary} ${operands} -> ${resultType!}`;
  }
  const type = accumulator.elementType;
  const [multiply, add] = isFloat(type) ? ['arith.mulf', 'arith.addf'] : ['arith.muli', 'arith.addi'];
  const [a, b] = [convert('a', lhs.elementType, type), convert('b', rhs.elementType, type)];
  const iterators = workload.dimensions
    .map(({ kind }) => (kind === 'k' ? '"reduction"' : '"parallel"'))
    .join(', ');
  return [
    `  %result = linalg.generic {indexing_maps = [${mapsText(workload)}], iterator_types = [${iterators}]} ${operands}` +
      (attribute === null ? ' {' : ` attrs = {${attribute}} {`),
    `  ^bb0(%a: ${lhs.elementType}, %b: ${rhs.elementType}, %c: ${type}):`,
    ...a.lines,
    ...b.lines,
    `    %p = ${multiply} ${a.value}, ${b.value} : ${type}`,
    `    %s = ${add} %c, %p : ${type}`,
    `    linalg.yield %s : ${type}`,
    `  } -> ${resultType!}`,
  ].join('\n');
}

/** The compiler's number for a dynamic size. (-1 in a matcher stands for any size, static or dynamic.) */
const DYNAMIC = '-9223372036854775808';

/** Sizes of all dimensions of one kind, in the order of the operation's loops. */
const sizesOf = ({ workload, loops }: MatchedForm, kind: DimensionKind): string =>
  loops
    .map((d) => workload.dimensions[d]!)
    .filter((one) => one.kind === kind)
    .map(({ size, sizes }) => (sizes === undefined ? size : DYNAMIC))
    .join(', ');

/** Text of a matcher called `name` that gives the attribute `value` to the operations of a form. */
export function matcherOf(form: MatchedForm, name: string, value: string): string {
  const { workload, loops } = form;
  const { lhs, rhs, accumulator } = workload;
  const sizes = KIND_ORDER.map(
    (kind) =>
      `    transform.iree.match.dims_equal %${kind[0]!}, [${sizesOf(form, kind)}] : !transform.param<i64>\n`,
  );
  return `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %b, %m, %n, %k = transform.iree.match.contraction %op, lhs_type = ${lhs.elementType}, rhs_type = ${rhs.elementType}, output_type = ${accumulator.elementType},
      indexing_maps = [${mapsText(workload, loops)}] : !transform.any_op -> !transform.param<i64>
${sizes.join('')}    %value = transform.param.constant ${value} -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`;
}
