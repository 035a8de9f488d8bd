// Moves strides out of a contraction into slices before it. The compiler vectorises a contraction of strided slices, but makes
// scalar code for a contraction with strides in its maps.
import type { Operation } from 'mlir-parser-ts';
import { tensorText } from '../tensor.ts';
import { rootFormOf } from './from-operation.ts';
import { affineMap, term } from './text.ts';
import { withAllLoops } from './windows.ts';

const MAP = /affine_map<[^>]*->[^>]*>/g;

/**
 * The text with the attribute on the root, and with a slice before the root for each strided operand.
 * @param text of the compiler: an operation starts a line, and its region starts at the end of that line
 * @param root an operation of the text that `rootFormOf` understands
 * @param attribute `name = value`
 * @returns null for text in another layout
 */
export function rewrittenRoot(text: string, root: Operation, attribute: string): string | null {
  const form = rootFormOf(root);
  if (form === null) return null;
  const { workload, writtenLoops } = form;
  if (workload.windows !== undefined) return withAllLoops(text, root, attribute);
  const line = text.lastIndexOf('\n', root.start) + 1;
  const { offset, before, after } = root.insertion;
  const annotated = text.slice(0, offset) + before + attribute + after + text.slice(offset);
  const headEnd = annotated.indexOf('\n', root.start);
  const indentation = /^ */.exec(text.slice(line, root.start))![0];
  let head = annotated.slice(root.start, headEnd);
  let slices = '';
  for (const [i, { results, strided, dimensions }] of root.indexingMaps.entries()) {
    if (strided === undefined) continue;
    const { value, type } = root.operands[i]!;
    if (type.kind !== 'tensor' || type.shape === null) return null;
    const terms = results.map((loop, at) =>
      loop === null ? strided.find(({ result }) => result === at)! : { dimension: loop, stride: 1 },
    );
    const shape = terms.map(({ dimension }) => workload.dimensions[writtenLoops[dimension]!]!.size);
    const [from, to] = [type, { ...type, shape }].map((one) => tensorText({ ...one, shape: one.shape! }));
    const map = affineMap(dimensions, terms.map(term));
    const ins = /ins\(([^:)]*) : ([^)]*)\)/.exec(head);
    const [values, types] = [ins?.[1]!.split(', '), ins?.[2]!.split(/, (?=tensor<)/)];
    if (!values || !types || values[i] !== value || types[i] !== from) return null;
    if (head.match(MAP)?.[i] !== map) return null;
    const name = `%strided${i}`;
    const plain = affineMap(
      dimensions,
      terms.map(({ dimension }) => `d${dimension}`),
    );
    let at = 0;
    head = head
      .replace(MAP, (one) => (at++ === i ? plain : one))
      .replace(ins![0], () => `ins(${values.with(i, name).join(', ')} : ${types.with(i, to!).join(', ')})`);
    const zeros = shape.map(() => 0).join(', ');
    const strides = terms.map(({ stride }) => stride).join(', ');
    slices = `${indentation}${name} = tensor.extract_slice ${value}[${zeros}] [${shape.join(', ')}] [${strides}] : ${from} to ${to!}\n${slices}`;
  }
  return [text.slice(0, line), slices, text.slice(line, root.start), head, annotated.slice(headEnd)].join('');
}
