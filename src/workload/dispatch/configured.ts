// Reads a dispatch from the compiler's dump of configurations: the operations with tiles, and the dimension of the dispatch for
// each of their loops. The compiler tiles and fuses the operations of a dispatch together, so all loops over the same data have
// one tile. The compiler prints one operation on each line.
import { nameOfSymbol, SYMBOL } from '../../compiler/symbol.ts';
import { sizesBefore, type Tensor } from '../tensor.ts';
import type { DispatchPart, DispatchWork, MatrixInstructions } from './dispatch-work.ts';

/** For each level by name, a tile for each loop of the operation. */
export type Levels = ReadonlyMap<string, readonly number[]>;

export interface ConfiguredPart extends DispatchPart {
  readonly levels: Levels;
  /** Character offsets [start, end) of its `lowering_config`. */
  readonly start: number;
  readonly end: number;
}

/** Stands for a dynamic size: see `sizesBefore`. */
export const DYNAMIC = -1;

/** A dispatch as the compiler configures it, with the fields of its workload. */
export interface ConfiguredDispatch extends Pick<
  DispatchWork,
  'pipeline' | 'elementType' | 'lane' | 'matrix'
> {
  /** Name of the function. */
  readonly function: string;
  /** Elements along each dimension, or `DYNAMIC`. Dimensions of the root come first, in the order of its loops. */
  readonly sizes: readonly number[];
  readonly parts: readonly ConfiguredPart[];
  /** Index of the part that defines the workgroups. */
  readonly root: number;
}

/** Levels of CPUs. */
const LEVELS = new Set([
  'distribution',
  'cache_parallel',
  'cache_reduction',
  'vector_common_parallel',
  'vector_reduction',
  'vector_inner_parallel',
]);

/** Levels of GPUs. Other entries of a GPU's configuration are no tiles. */
const GPU_LEVELS = new Set(['workgroup', 'reduction']);

/** Operations whose loops are the dimensions of their result. */
const ELEMENTWISE = /^(?:linalg\.(?:fill|transpose|broadcast|copy)|iree_linalg_ext\.(?:gather|map_store))$/;
const POOLING = /^linalg\.pooling_n\w+$/;

/** A store that computes where each element goes. Its loops are the dimensions of what it stores; its types follow its body. */
const MAPPED_STORE =
  /^[^\n]* = iree_linalg_ext\.map_store [^\n]* (%\w+) into %\w+ \{\n[^}]*\} : (tensor<[^<>]*>) into /;

/** For each dimension of an operand or a result, the index of its loop; null for other expressions. */
type Access = readonly (number | null)[];

/** The tiles of an operation on a CPU, or the last ones on its line on a GPU: an attention has tiles of its products before them. */
const LOWERING =
  /#iree_cpu\.lowering_config<([^<>]*)>|#iree_gpu\.lowering_config<\{([^{}]*)\}>(?!.*lowering_config)/;

interface Operand extends Tensor {
  readonly value: string;
  readonly access: Access;
}

interface Line extends Omit<ConfiguredPart, 'loops'> {
  readonly result: string | null;
  readonly inputs: readonly Operand[];
  readonly outputs: readonly Operand[];
  /** Elements along each loop. */
  readonly sizes: readonly number[];
  /** Its matrix instructions, along each loop; null without. */
  readonly matrix: MatrixInstructions | null;
}

const PIPELINE = /translation_info<pipeline = #iree_[cg]pu\.pipeline<(\w+)>/;

const FUNCTION = new RegExp(
  String.raw`func\.func (${SYMBOL})\(\)[^\n]*?translation_info<pipeline = #iree_[cg]pu\.pipeline<(\w+)>`,
  'g',
);

/** Name of the pipeline of the first function in the text of an executable; null without one. */
export const pipelineIn = (text: string): string | null => PIPELINE.exec(text)?.[1] ?? null;

/**
 * Reads one executable of the compiler's dump of configurations.
 * @returns null for text that is not understood: unknown sizes or loops, or several functions
 */
export function readConfigured(text: string): ConfiguredDispatch | null {
  const functions = [...text.matchAll(FUNCTION)];
  const [found] = functions;
  if (found === undefined || functions.length > 1) return null;
  const lines: Line[] = [];
  for (const { index, 0: line } of text.matchAll(/^.*\blowering_config = .*$/gm)) {
    const [, stored, type] = MAPPED_STORE.exec(text.slice(index)) ?? [];
    const read = readLine(stored === undefined ? line : `${line} outs(${stored} : ${type!})`, index);
    if (read === null) return null;
    lines.push(read);
  }
  const root = lines.findIndex(({ levels }) => levels.has('distribution') || levels.has('workgroup'));
  const last = lines.at(-1);
  if (root < 0 || last === undefined) return null;
  const { dimensionOf, sizes } = dimensionsOf(lines, root);
  const output = last.outputs[0];
  const lane = output?.access.at(-1) ?? null;
  const { matrix } = lines[root]!;
  return {
    function: nameOfSymbol(found[1]!),
    pipeline: found[2]!,
    sizes,
    root,
    elementType: output?.elementType ?? '',
    lane: lane === null ? null : dimensionOf(lines.length - 1, lane),
    // The root's dimensions come first.
    ...(matrix && { matrix: { ...matrix, unit: sizes.map((_, d) => matrix.unit[d] ?? 1) } }),
    parts: lines.map(({ name, levels, start, end, reduced, sizes: own }, at) => ({
      ...{ name, levels, start, end, reduced },
      loops: own.map((_, loop) => dimensionOf(at, loop)),
    })),
  };
}

function readLine(line: string, offset: number): Line | null {
  const head = /^\s*(?:(%\w+)(?::\d+)? = )?([a-z_]+\.[\w.]+) /.exec(line);
  const lowering = LOWERING.exec(line);
  const inputs = valuesOf(line, 'ins');
  const outputs = valuesOf(line, 'outs');
  if (head === null || lowering === null || inputs === null || outputs === null) return null;
  const levels = lowering[1] === undefined ? gpuLevelsOf(lowering[2]!) : levelsOf(lowering[1]);
  const name = head[2]!;
  const nest = levels && nestOf(name, line, inputs, outputs);
  if (levels === null || !nest) return null;
  const all = [...inputs, ...outputs].map((one, i): Operand => ({ ...one, access: nest.accesses[i] ?? [] }));
  const sizes = Array.from({ length: nest.rank }, (_, loop) => sizeOf(all, loop) ?? nest.windows[loop] ?? 0);
  const isKnown =
    sizes.every((size) => size !== 0) && [...levels.values()].every((own) => own.length <= sizes.length);
  if (!isKnown) return null;
  const start = offset + lowering.index;
  return {
    ...{ name, levels, start, end: start + lowering[0].length, sizes },
    matrix: matrixOf(line, nest, inputs),
    result: head[1] ?? null,
    inputs: all.slice(0, inputs.length),
    outputs: all.slice(inputs.length),
    reduced: nest.reduced,
  };
}

/** The size of a loop: the size of any operand along it. */
function sizeOf(operands: readonly Operand[], loop: number): number | undefined {
  const along = operands.find(({ access }) => access.includes(loop));
  return along?.shape[along.access.indexOf(loop)];
}

function levelsOf(text: string): Levels | null {
  const levels = new Map(listsIn(text));
  // Edits would drop any other entries.
  const isAll = text.replaceAll(/(\w+) = \[([\d, ]*)\](?:, )?/g, '') === '';
  return isAll && levels.size > 0 && [...levels.keys()].every((name) => LEVELS.has(name)) ? levels : null;
}

const gpuLevelsOf = (text: string): Levels => new Map(listsIn(text).filter(([name]) => GPU_LEVELS.has(name)));

/** The lists of numbers in a configuration, by name. */
const listsIn = (text: string) =>
  [...text.matchAll(/(\w+) = \[([\d, ]*)\]/g)].map(
    ([, name, numbers]) => [name!, numbers!.split(', ').map(Number)] as const,
  );

/** The matrix instructions of an attention; null without. */
function matrixOf(
  line: string,
  { accesses, rank }: Nest,
  inputs: readonly Value[],
): MatrixInstructions | null {
  const instruction = (product: 'qk' | 'pv') =>
    new RegExp(String.raw`${product}_attrs = \{[^}]*mma_layout<\w+?_(\d+)x(\d+)x(\d+)_`)
      .exec(line)
      ?.slice(1)
      .map(Number);
  const [scores, weighted] = [instruction('qk'), instruction('pv')];
  const [query = [], key = [], values = []] = accesses;
  if (scores === undefined || weighted === undefined) return null;
  const unit = Array.from({ length: rank }, (_, loop) => {
    const [inQuery, inKey, inValues] = [query, key, values].map((access) => access.includes(loop));
    // Heads, elements of a key, rows, keys, columns of values.
    if (inQuery && inKey) return inValues ? 1 : scores[2]!;
    if (inQuery) return Math.max(scores[0]!, weighted[0]!);
    return inKey ? Math.max(scores[1]!, weighted[2]!) : weighted[1]!;
  });
  // The result of such an instruction has the layout of an operand.
  const chained = /qk_attrs = \{[^}]*col_major = true/.test(line);
  return { unit, elementType: inputs[0]!.elementType, chained };
}

type Value = Omit<Operand, 'access'>;

/** A type of a buffer has its layout in nested brackets. */
const TYPE = /\w+(?:<(?:[^<>]|<[^<>]*>)*>)?/g;

/** The operands of `ins` or `outs`; a scalar has no shape. Null for a type that is not understood. */
function valuesOf(line: string, list: 'ins' | 'outs'): Value[] | null {
  const found = new RegExp(String.raw`\b${list}\(([^:()]*) : ([^()]*)\)`).exec(line);
  if (found === null) return list === 'ins' ? [] : null;
  const names = found[1]!.split(', ');
  const types = found[2]!.match(TYPE) ?? [];
  const values = names.map((value, i): Value | null => {
    const type = types[i] ?? '';
    const tensor = /^(?:tensor|memref)<((?:(?:\d+|\?)x)*)(\w+)[,>]/.exec(type);
    if (tensor !== null) return { value, shape: sizesBefore(tensor[1]!), elementType: tensor[2]! };
    return /^\w+$/.test(type) ? { value, shape: [], elementType: type } : null;
  });
  const known = values.filter((one) => one !== null);
  return known.length === types.length ? known : null;
}

interface Nest {
  /** For each operand, inputs first. */
  readonly accesses: readonly Access[];
  /** Number of loops. */
  readonly rank: number;
  readonly reduced: readonly number[];
  /** Sizes of loops that have no dimension in any operand. */
  readonly windows: Readonly<Record<number, number>>;
}

function nestOf(
  name: string,
  line: string,
  inputs: readonly Value[],
  outputs: readonly Value[],
): Nest | null {
  const rank = outputs[0]!.shape.length;
  const whole = Array.from({ length: rank }, (_, i) => i);
  if (ELEMENTWISE.test(name))
    return { accesses: [...inputs.map(() => []), whole], rank, reduced: [], windows: {} };
  if (POOLING.test(name)) {
    const window = inputs[1]?.shape ?? [];
    return {
      accesses: [[], [], whole],
      rank: rank + window.length,
      reduced: window.map((_, i) => rank + i),
      windows: Object.fromEntries(window.map((size, i) => [rank + i, size])),
    };
  }
  const maps = mapsIn(line);
  if (maps.length !== inputs.length + outputs.length) return null;
  const accesses = maps.map(({ access }) => access);
  if (name === 'linalg.generic') {
    const iterators = /iterator_types = \[([^\]]*)\]/.exec(line)?.[1]?.match(/\w+/g) ?? [];
    const reduced = iterators.flatMap((one, loop) => (one === 'reduction' ? [loop] : []));
    return { accesses, rank: iterators.length, reduced, windows: {} };
  }
  if (/^iree_linalg_ext\.(?:online_)?attention$/.test(name)) {
    const [result, values] = [accesses[inputs.length]!, accesses[2] ?? []];
    const loops = Array.from({ length: maps[0]!.rank }, (_, i) => i);
    const reduced = loops.filter((loop) => !result.includes(loop));
    const isKey = (loop: number) => values.includes(loop);
    return {
      ...{ accesses, rank: loops.length, windows: {} },
      reduced: [...reduced.filter(isKey), ...reduced.filter((loop) => !isKey(loop))],
    };
  }
  return null;
}

/** The affine maps in a text: the number of loops, and the access of each. */
export const mapsIn = (text: string): { readonly rank: number; readonly access: Access }[] =>
  [...text.matchAll(/affine_map<\(([^)]*)\) -> \(([^)]*)\)>/g)].map(([, names, results]) => {
    const loops = names!.split(', ');
    const along = results === '' ? [] : results!.split(', ');
    const access = along.map((one) => (loops.includes(one) ? loops.indexOf(one) : null));
    return { rank: loops.length, access };
  });

/** Groups the loops over the same data: a producer with its consumers, and consumers of one value. */
function dimensionsOf(lines: readonly Line[], root: number) {
  const groups = lines.map(({ sizes }, at) => sizes.map((_, loop) => [{ at, loop }]));
  const join = (a: { at: number; loop: number }, b: { at: number; loop: number }) => {
    const [one, other] = [groups[a.at]![a.loop]!, groups[b.at]![b.loop]!];
    if (one === other || lines[a.at]!.sizes[a.loop] !== lines[b.at]!.sizes[b.loop]) return;
    // Two loops of one operation are never one dimension.
    if (one.some(({ at }) => other.some((two) => two.at === at))) return;
    one.push(...other);
    for (const { at, loop } of other) groups[at]![loop] = one;
  };
  const joinAlong = (from: number, a: Access, to: number, b: Access) => {
    for (const [i, loop] of a.entries()) {
      const there = b[i] ?? null;
      if (loop !== null && there !== null) join({ at: from, loop }, { at: to, loop: there });
    }
  };
  const made = new Map<string, { at: number; access: Access }>();
  for (const [at, { result, inputs, outputs }] of lines.entries()) {
    for (const { value, access } of [...inputs, ...outputs]) {
      const producer = made.get(value);
      if (producer !== undefined) joinAlong(producer.at, producer.access, at, access);
    }
    if (result === null) continue;
    for (const [i, { access }] of outputs.entries())
      made.set(outputs.length === 1 ? result : `${result}#${i}`, { at, access });
  }
  const read = new Map<string, { at: number; access: Access }>();
  for (const [at, { inputs }] of lines.entries())
    for (const { value, access } of inputs) {
      const first = read.get(value);
      if (first === undefined) read.set(value, { at, access });
      else joinAlong(first.at, first.access, at, access);
    }
  const distinct = [...new Set([...groups[root]!, ...groups.flat()])];
  return {
    dimensionOf: (at: number, loop: number) => distinct.indexOf(groups[at]![loop]!),
    sizes: distinct.map(([first]) => lines[first!.at]!.sizes[first!.loop]!),
  };
}

/** The text with other levels on its operations. */
export function withLevels(
  text: string,
  { parts }: ConfiguredDispatch,
  levelsFor: (part: ConfiguredPart, index: number) => Levels,
): string {
  let edited = '';
  let from = 0;
  for (const [i, part] of parts.entries()) {
    const levels = [...levelsFor(part, i)].map(([name, tiles]) => `${name} = [${tiles.join(', ')}]`);
    edited += `${text.slice(from, part.start)}#iree_cpu.lowering_config<${levels.join(', ')}>`;
    from = part.end;
  }
  return edited + text.slice(from);
}
