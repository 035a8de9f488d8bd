// Dimensions of one element. A pipeline tiles the users of a root together with the root only if no change of shape lies between, so the
// users of a root with such a dimension get the dimension, too.
import { VALUE } from '../../compiler/symbol.ts';
import { tensorFromText, tensorText, type Tensor } from '../tensor.ts';
import { affineMap } from './text.ts';

/** A value of the compiler's text, such as `%5`. */
export interface Value extends Tensor {
  readonly name: string;
}

/** Reassociation of `rank` dimensions with a tensor that has `first` and its neighbour as one. */
export const groups = (rank: number, first = 0): string =>
  `[${Array.from({ length: rank }, (_, i) => (i === first ? `[${i}, ${i + 1}]` : `[${i}]`))
    .filter((_, i) => i !== first + 1)
    .join(', ')}]`;

/** The value with a dimension of one element outside of all others. */
const widened = (value: Tensor, name: string): Value => ({ ...value, name, shape: [1, ...value.shape] });

/** Such as `!iree_tensor_ext.dispatch.tensor<writeonly:tensor<1x4xf32>>` for a destination of four elements. */
const widenedType = (type: string): string => type.replace(':tensor<', ':tensor<1x');

const ELEMENTWISE =
  /^ *(%\w+) = linalg\.generic \{indexing_maps = \[(.*)\], iterator_types = \[((?:"parallel"(?:, )?)+)\]\} ins\((.*?)\) outs\((.*?)\)(.*) \{$/;

const STORE = new RegExp(
  String.raw`^ *\S+\.dispatch\.tensor\.store (${VALUE}), (%\w+), offsets = \[(.*?)\], sizes = \[(.*?)\], strides = \[(.*?)\] : \S+ -> (!\S+?<\w+:tensor<\w+>>)`,
);

/** The text around a value's definition, as the compiler writes it: an operation begins a line, and its region ends a line with its type. */
export interface Around {
  readonly before: string;
  readonly after: string;
}

/**
 * The text around a definition that gets one dimension more. Element-wise operations and stores get the dimension, too; other operations
 * get the value without the dimension.
 * @param defined the new definition, with a dimension of one element outside of the dimensions of `value`
 */
export function withWideUsers(
  { before, after }: Around,
  indentation: string,
  value: Value,
  defined: string,
): Around {
  let head = before;
  /** Gives a destination of stores the dimension. False for a destination without a plain definition. */
  const widenDestination = (name: string, type: string): boolean => {
    const start = Math.max(
      head.lastIndexOf(`${name}: ${type}`),
      head.lastIndexOf(`\n${indentation}${name} = `) + 1,
    );
    const end = (head + '\n').indexOf('\n', start);
    const line = head.slice(start, end);
    if (start === 0 || !line.includes(type)) return false;
    head = head.slice(0, start) + line.replace(type, widenedType(type)) + head.slice(end);
    return true;
  };
  const values = new Map([[value.name, { value, wide: widened(value, defined) }]]);
  const end = `${indentation}} -> `;
  /** Result of the element-wise operation whose region is open. */
  let result: Value | null = null;
  let added = 0;
  const linesFor = (line: string): string[] => {
    if (result !== null && line.startsWith(end + tensorText(result))) {
      const wide = widened(result, '');
      const rest = line.slice(end.length + tensorText(result).length);
      result = null;
      return [end + tensorText(wide) + rest];
    }
    const used = [...values].filter(([name]) => new RegExp(`${name}(?![\\w#])`).test(line));
    if (used.length === 0) return [line];
    const store = STORE.exec(line);
    const own = store && values.get(store[1]!);
    if (store && own) {
      const [, , destination, offsets, sizes, strides, type] = store;
      const isWhole = offsets!.split(', ').length === own.value.shape.length;
      if (isWhole && widenDestination(destination!, type!))
        return [
          `${indentation}${line.trimStart().split(' ', 1)[0]!} ${own.wide.name}, ${destination!}, offsets = [0, ${offsets!}], sizes = [1, ${sizes!}], strides = [1, ${strides!}] : ${tensorText(own.wide)} -> ${widenedType(type!)}${line.slice(store[0].length)}`,
        ];
    }
    const [, name, maps, iterators, inputs, output, rest] = ELEMENTWISE.exec(line) ?? [];
    const operands = [inputs, output].flatMap(valuesIn);
    if (name === undefined || operands.includes(null)) {
      const collapses = used.map(([name, { value, wide }]) => {
        values.delete(name);
        return `${indentation}${name} = tensor.collapse_shape ${wide.name} ${groups(wide.shape.length)} : ${tensorText(wide)} into ${tensorText(value)}`;
      });
      return [...collapses, line];
    }
    const loops = iterators!.split(', ').length;
    const lines: string[] = [];
    const all = (operands as Value[]).map((one) => {
      if (one.shape.length < loops) return one;
      const known = values.get(one.name)?.wide;
      if (known !== undefined) return known;
      const wide = widened(one, `%wide${added++}`);
      lines.push(
        `${indentation}${wide.name} = tensor.expand_shape ${one.name} ${groups(wide.shape.length)} output_shape [${wide.shape.join(', ')}] : ${tensorText(one)} into ${tensorText(wide)}`,
      );
      return wide;
    });
    const written = all.at(-1)!;
    const read = all.slice(0, -1);
    result = { ...(operands as Value[]).at(-1)!, name };
    const wide = widened(result, `%wide${added++}`);
    values.set(name, { value: result, wide });
    const wideMaps = [...maps!.matchAll(/-> \((.*?)\)>/g)].map(([, results], i) => {
      const moved = results!.replace(/d(\d+)/g, (_, d) => `d${Number(d) + 1}`);
      return affineMap(loops + 1, [...(all[i]!.shape.length > loops ? ['d0'] : []), moved]);
    });
    const typed = (some: readonly Value[]) =>
      `${some.map((one) => one.name).join(', ')} : ${some.map(tensorText).join(', ')}`;
    return [
      ...lines,
      `${indentation}${wide.name} = linalg.generic {indexing_maps = [${wideMaps.join(', ')}], iterator_types = ["parallel", ${iterators!}]} ins(${typed(read)}) outs(${typed([written])})${rest!} {`,
    ];
  };
  const lines = after.split('\n');
  // The function ends with a line of less indentation.
  const last = lines.findIndex((line) => !line.startsWith(indentation));
  const own = last < 0 ? lines.length : last;
  const rewritten = [...lines.slice(0, own).flatMap(linesFor), ...lines.slice(own)].join('\n');
  return { before: head, after: rewritten };
}

/** The values of a list such as `%1, %2 : tensor<4xf32>, tensor<f32>`; null for another type than a static tensor. */
function valuesIn(list = ''): (Value | null)[] {
  const [names = '', types = ''] = list.split(' : ');
  const each = types.split(', ');
  return names.split(', ').map((name, i) => {
    const type = tensorFromText(each[i] ?? '');
    return type && { name, ...type };
  });
}
