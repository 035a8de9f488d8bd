// Moves strides out of a contraction into slices before it. The compiler vectorises a contraction of strided slices, but makes
// scalar code for a contraction with strides in its maps.
import type { Operation } from 'mlir-parser-ts';
import { tensorText } from '../tensor.ts';
import { rootFormOf } from './from-operation.ts';
import { withAllLoops } from './windows.ts';

/** Replaces the text in [start, end). */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

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
  if (form.workload.windows !== undefined) return withAllLoops(text, root, attribute);
  const line = text.lastIndexOf('\n', root.start) + 1;
  const { offset, before, after } = root.insertion;
  const replacements: Replacement[] = [{ start: offset, end: offset, text: before + attribute + after }];
  const indentation = /^ */.exec(text.slice(line, root.start))![0];
  const sizes = new Map<number, number>();
  for (const [i, loop] of form.writtenLoops.entries()) sizes.set(i, form.workload.dimensions[loop]!.size);
  for (const [i, map] of root.indexingMaps.entries()) {
    if (map.strided === undefined) continue;
    const { value, type } = root.operands[i]!;
    if (type.kind !== 'tensor' || type.shape === null) return null;
    const strides = map.results.map((_, at) => map.strided!.find(({ result }) => result === at)?.stride ?? 1);
    const loops = map.results.map(
      (loop, at) => loop ?? map.strided!.find(({ result }) => result === at)!.dimension,
    );
    const sliced = loops.map((loop) => sizes.get(loop)!);
    const { elementType } = type;
    const [from, to] = [type.shape, sliced].map((shape) => tensorText({ shape, elementType }));
    const name = `%strided${i}`;
    const zeros = sliced.map(() => '0').join(', ');
    const names = Array.from({ length: map.dimensions }, (_, d) => `d${d}`).join(', ');
    const spelled = map.results
      .map((_, at) => (strides[at] === 1 ? `d${loops[at]!}` : `d${loops[at]!} * ${strides[at]!}`))
      .join(', ');
    const head = text.slice(root.start, text.indexOf('\n', root.start));
    const at = {
      map: nth(head, /affine_map<[^>]*->[^>]*>/g, i),
      operand: head.indexOf('ins(') + 'ins('.length,
    };
    if (at.map?.text !== `affine_map<(${names}) -> (${spelled})>` || at.operand < 'ins('.length) return null;
    const operands = /^([^:)]*) : ([^)]*)\)/.exec(head.slice(at.operand));
    const values = operands?.[1]?.split(', ');
    const types = operands?.[2]?.split(/, (?=tensor<)/);
    if (!values || !types || values[i] !== value || types[i] !== from) return null;
    const typesAt = at.operand + operands![1]!.length + ' : '.length;
    const place = (list: readonly string[]) =>
      list.slice(0, i).reduce((sum, one) => sum + one.length + ', '.length, 0);
    const put = (start: number, length: number, replaced: string) =>
      replacements.push({ start: root.start + start, end: root.start + start + length, text: replaced });
    put(
      at.map.start,
      at.map.text.length,
      `affine_map<(${names}) -> (${loops.map((loop) => `d${loop}`).join(', ')})>`,
    );
    put(at.operand + place(values), value.length, name);
    put(typesAt + place(types), from!.length, to!);
    replacements.push({
      start: line,
      end: line,
      text: `${indentation}${name} = tensor.extract_slice ${value}[${zeros}] [${sliced.join(', ')}] [${strides.join(', ')}] : ${from!} to ${to!}\n`,
    });
  }
  return replacements
    .sort((a, b) => b.start - a.start)
    .reduce((edited, { start, end, text: put }) => edited.slice(0, start) + put + edited.slice(end), text);
}

function nth(text: string, pattern: RegExp, n: number): { start: number; text: string } | null {
  const match = [...text.matchAll(pattern)][n];
  return match === undefined ? null : { start: match.index, text: match[0] };
}
