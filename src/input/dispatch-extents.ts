// The sizes of the dynamic dimensions in the dispatches of a program, as expressions of the sizes of its arguments. Pure.
import type { Operation } from 'mlir-parser-ts';
import { withoutLocations } from '../compiler/locations.ts';
import { nameOfSymbol, SYMBOL } from '../compiler/symbol.ts';
import type { DimensionKind } from '../workload/sizes.ts';
import { isDynamic, type WorkloadForm } from '../workload/workload.ts';
import { placeOf } from './dynamic-dimensions.ts';
import { CALL, type Executable, type Flow } from './flow.ts';
import { combined, resultsOfMap, substituted, type Extent, type Operator } from './extent.ts';

/** The extents of one kind of dimension in the calls of a dispatch by one function. */
export interface DispatchExtents {
  /** The function of the program. */
  readonly function: string;
  readonly kind: DimensionKind;
  /** By places of the function's arguments, such as `arg0.1`. */
  readonly extents: readonly Extent[];
}

/** The extents of the dynamic dimensions of a workload in an executable; null if one of them is not known. */
export type ExtentsOf = (
  executable: string,
  operation: Operation | null,
  form: WorkloadForm & { readonly writtenLoops?: readonly number[] },
) => readonly DispatchExtents[] | null;

/** An extent, or null if it is not known. */
type Known = Extent | null;

/** The integers and the tensors of a function, by their values. */
interface Values {
  readonly integers: Map<string, Known>;
  /** The dynamic dimensions of a tensor in their order. */
  readonly tensors: Map<string, readonly Known[]>;
}

/** Where an executable is in the text of a program. */
type Place = Pick<Executable, 'name' | 'start' | 'end'>;

/** A call of an executable by a function of the program. */
interface CallSite {
  readonly function: string;
  /** The integers among the operands, by their position. */
  readonly operands: readonly Known[];
  /** The dynamic dimensions of the tensors that it reads and writes. */
  readonly sizes: readonly Known[];
}

const FUNCTIONS = new RegExp(
  String.raw`^( *)(?:util|func)\.func (?:public |private )?(${SYMBOL})\(([^\n]*)\{\n([^]*?)^\1\}`,
  'gm',
);
const DISPATCH = new RegExp(String.raw`${CALL}([^\n]*)`, 'g');

/**
 * Reads a program after the compiler's phase `flow`.
 */
export function extentsIn({
  text,
  executables,
}: Pick<Flow, 'text'> & { readonly executables: readonly Place[] }): ExtentsOf {
  if (!text.includes('x?x') && !text.includes('<?x')) return () => null;
  const aliases = new Map(
    [...text.matchAll(/^(#\w+) = (affine_map<.*>)$/gm)].map(([, alias, map]) => [alias!, map!] as const),
  );
  const sites = new Map<string, CallSite[]>();
  for (const [, indentation, symbol, , body] of text.matchAll(FUNCTIONS)) {
    if (indentation !== '  ') continue;
    const called = nameOfSymbol(symbol!).replace(/\$async$/, '');
    const own = withoutLocations(body!);
    const { integers } = valuesIn(own, aliases, new Map());
    for (const [, executable, operands, types] of own.matchAll(DISPATCH)) {
      const values = operands === '' ? [] : operands!.split(', ');
      const site = {
        function: called,
        operands: values.map((value) => integers.get(value) ?? null),
        sizes: [...types!.matchAll(/>\{([^}]*)\}/g)].flatMap(([, list]) =>
          list!.split(', ').map((value) => integers.get(value) ?? null),
        ),
      };
      const name = nameOfSymbol(executable!);
      sites.set(name, [...(sites.get(name) ?? []), site]);
    }
  }
  const places = new Map(executables.map((one) => [one.name, one]));
  return (executable, operation, form) => {
    if (!isDynamic(form.workload)) return null;
    const calls = sites.get(executable) ?? [];
    const { start = 0, end = 0 } = places.get(executable) ?? {};
    const own = operation === null ? '' : withoutLocations(text.slice(start, end));
    const all = calls.map((call) => {
      const known =
        operation === null
          ? [['m', call.sizes] as const]
          : extentsByKind(tensorsIn(own, call, aliases), operation, form);
      return known.map(([kind, extents]) => ({ function: call.function, kind, extents }));
    });
    const found = all.flat();
    const isKnown = found.length > 0 && found.every(({ extents }) => !extents.includes(null));
    return isKnown ? (found as DispatchExtents[]) : null;
  };
}

/** The extents of an operation in several executables, equal ones once; null if some are not known. */
export function joinedExtents(
  found: readonly (readonly DispatchExtents[] | null)[],
): DispatchExtents[] | null {
  if (found.length === 0 || found.includes(null)) return null;
  const groups = Map.groupBy((found as DispatchExtents[][]).flat(), (one) =>
    JSON.stringify([one.function, one.kind]),
  );
  return [...groups.values()].map((own) => {
    const byText = new Map(own.flatMap(({ extents }) => extents.map((one) => [JSON.stringify(one), one])));
    return { ...own[0]!, extents: [...byText.values()] };
  });
}

/** The extents of the dynamic dimensions of an operation, by kind. */
function extentsByKind(
  tensors: Values['tensors'],
  { operands, indexingMaps }: Operation,
  { workload, loops, writtenLoops = loops }: Parameters<ExtentsOf>[2],
): (readonly [DimensionKind, readonly Known[]])[] {
  if (workload.kind !== 'contraction') return [];
  const byKind = new Map<DimensionKind, Known[]>();
  for (const [loop, d] of writtenLoops.entries()) {
    const { kind, sizes } = workload.dimensions[d]!;
    if (sizes === undefined) continue;
    const extent = operands
      .map(({ value, type }, i) => {
        const at = indexingMaps[i]?.results.indexOf(loop) ?? -1;
        if (at < 0 || type.kind === 'opaque' || type.shape === null) return null;
        const dynamic = type.shape.slice(0, at).filter((size) => size < 0).length;
        return tensors.get(value)?.[dynamic] ?? null;
      })
      .find((one) => one !== null);
    byKind.set(kind, [...(byKind.get(kind) ?? []), extent ?? null]);
  }
  return [...byKind];
}

/** The tensors in the function of an executable, as one call runs it. */
function tensorsIn(executable: string, { operands }: CallSite, aliases: ReadonlyMap<string, string>) {
  const [found] = [...executable.matchAll(FUNCTIONS)];
  const [, , , parameters = '', body = ''] = found ?? [];
  const names = [...parameters.matchAll(/(%\w+): /g)].map(([, name]) => name!);
  const given = new Map(names.map((name, i) => [name, operands[i] ?? null]));
  return valuesIn(body, aliases, given).tensors;
}

/** Operations that give their operand on. */
const SAME =
  /^(?:arith\.(?:index_castu?i?|extu?s?i|trunci)|(?:iree_tensor_ext|flow)\.dispatch\.workload\.ordinal)$/;

const BINARY: Readonly<Record<string, Operator>> = {
  ...{ 'arith.addi': '+', 'arith.subi': '-', 'arith.muli': '*' },
  ...{ 'arith.divsi': 'floordiv', 'arith.divui': 'floordiv', 'arith.floordivsi': 'floordiv' },
  ...{ 'arith.ceildivsi': 'ceildiv', 'arith.ceildivui': 'ceildiv' },
  ...{ 'arith.remsi': 'mod', 'arith.remui': 'mod' },
  ...{ 'arith.minsi': 'min', 'arith.minui': 'min', 'arith.maxsi': 'max', 'arith.maxui': 'max' },
};

/** The values of a body whose extents are known. An operation stands on one line, but for lists of assumptions. */
function valuesIn(
  body: string,
  aliases: ReadonlyMap<string, string>,
  given: ReadonlyMap<string, Known>,
): Values {
  const integers = new Map(given);
  const tensors = new Map<string, readonly Known[]>();
  const listed = (list: string) =>
    list === ''
      ? []
      : list
          .split(', ')
          .map((value) => (/^\d+$/.test(value) ? Number(value) : (integers.get(value) ?? null)));
  const dynamic = (sizes: string) =>
    listed(
      sizes
        .split(', ')
        .filter((size) => size.startsWith('%'))
        .join(', '),
    );
  const joined = body.replace(/util\.assume\.int\s[^:]*:/g, (assumed) => assumed.replace(/\s*\n\s*/g, ' '));
  for (const [, value, operation, rest] of joined.matchAll(/^ +(%[\w-]+)(?::\d+)? = ([\w.]+)(.*)$/gm)) {
    const own = (extent: Known) => integers.set(value!, extent);
    const [first = '', second = ''] = rest!.match(/%[\w#-]+/g) ?? [];
    const binary = BINARY[operation!];
    if (binary !== undefined)
      own(combined(binary, integers.get(first) ?? null, integers.get(second) ?? null));
    else if (SAME.test(operation!)) own(integers.get(first) ?? null);
    else if (operation === 'arith.constant') {
      const [, number] = /^ (-?\d+) : (?:index|i\d+)$/.exec(rest!) ?? [];
      if (number !== undefined) own(Number(number));
    } else if (operation === 'hal.buffer_view.dim') {
      const [, argument, dimension] = /^<%arg(\d+) : !hal\.buffer_view>\[(\d+)\]/.exec(rest!) ?? [];
      if (argument !== undefined) own(placeOf(Number(argument), Number(dimension)));
    } else if (operation === 'util.assume.int') {
      // The operands, without their ranges.
      const assumed = rest!.replace(/<[^>]*>/g, '').match(/%[\w#-]+/g) ?? [];
      for (const [i, one] of assumed.entries())
        integers.set(assumed.length === 1 ? value! : `${value!}#${i}`, integers.get(one) ?? null);
    } else if (operation === 'affine.apply') {
      const [, map = '', dimensions = '', symbols = ''] =
        /^ (#\w+|affine_map<.*>)\(([^)]*)\)(?:\[([^\]]*)\])?$/.exec(rest!) ?? [];
      const read = resultsOfMap(aliases.get(map) ?? map);
      const values = [...listed(dimensions), ...listed(symbols)];
      const [result] = read?.results ?? [];
      if (result !== undefined) own(substituted(result, (name) => values[read!.names.indexOf(name)] ?? null));
    } else if (/\.dispatch\.tensor\.load$/.test(operation!) || operation === 'tensor.extract_slice') {
      const [, sizes] =
        / sizes = \[([^\]]*)\]/.exec(rest!) ?? /^ %[\w#-]+ ?\[[^\]]*\] \[([^\]]*)\]/.exec(rest!) ?? [];
      if (sizes !== undefined) tensors.set(value!, dynamic(sizes));
    } else if (operation === 'tensor.empty') {
      const [, sizes = ''] = /^\(([^)]*)\)/.exec(rest!) ?? [];
      tensors.set(value!, listed(sizes));
    } else if (operation === 'tensor.expand_shape') {
      const [, sizes] = / output_shape \[([^\]]*)\]/.exec(rest!) ?? [];
      if (sizes !== undefined) tensors.set(value!, dynamic(sizes));
    } else if (operation!.startsWith('linalg.')) {
      // A result has the shape of its output.
      const [, output] = / outs\((%[\w#-]+)/.exec(rest!) ?? [];
      const shape = output === undefined ? undefined : tensors.get(output);
      if (shape !== undefined) tensors.set(value!, shape);
    }
  }
  return { integers, tensors };
}
