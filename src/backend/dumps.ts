// The compiler's dumps of configured executables: operations and their configurations.
import { parse, symbolsOf, type Type } from 'mlir-parser-ts';
import { mapsIn } from '../workload/dispatch/configured.ts';
import { sizesBefore } from '../workload/tensor.ts';
import { generatedForm, matchKey } from '../workload/workload.ts';

export interface ConfiguredOperation {
  readonly name: string;
  /** Types of its operands, such as `tensor<4x?xf32>`. */
  readonly types: readonly string[];
  /** Outermost first; empty without a loop nest. */
  readonly loops: readonly Loop[];
  /** Key of a matcher; null without a plain contraction. */
  readonly key: string | null;
  /** The lowering configuration as text; null for none. */
  readonly lowering: string | null;
  /** The `translation_info` of its function as text; null unless the dump has exactly one. */
  readonly translation: string | null;
  /** The runtime's name of the dispatch; null unless the dump has exactly one function. */
  readonly dispatch: string | null;
}

/** A whole dispatch instead of its operations. */
export const wholeDispatch = (dump: Uint8Array): ConfiguredOperation => ({
  ...{ name: 'dispatch', types: [], loops: [], key: null, lowering: null },
  ...functionIn(dump),
});

type Found = Omit<ConfiguredOperation, 'dispatch' | 'translation'>;

export interface Loop {
  /** -1 for a dynamic size. */
  readonly size: number;
  readonly isReduced: boolean;
}

/** The operations of one dump that can have a configuration. */
export function configuredOperations(dump: Uint8Array): ConfiguredOperation[] {
  const text = Buffer.from(dump).toString();
  const own = functionIn(dump);
  return [...contractions(dump), ...generics(text), ...packings(text)].map((one) => ({ ...one, ...own }));
}

/** The function of a dump with one function. */
function functionIn(dump: Uint8Array): Pick<ConfiguredOperation, 'dispatch' | 'translation'> {
  const [name, ...others] = symbolsOf(dump, 'hal.executable.export');
  const infos = [...new Set(Buffer.from(dump).toString('latin1').match(TRANSLATION))];
  return {
    dispatch: others.length === 0 ? (name ?? null) : null,
    translation: infos.length === 1 ? infos[0]!.replace(/^translation_info = /, '') : null,
  };
}

/** Brackets nest two levels deep: in the name of the pipeline, and inside braces. */
const TRANSLATION = /translation_info = #iree_codegen\.translation_info<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>/g;

function contractions(dump: Uint8Array): Found[] {
  return parse(dump).operations.map((operation) => {
    const { name, operands, indexingMaps, iteratorTypes, attributes } = operation;
    const attribute = attributes.find((one) => one.name === 'lowering_config');
    const lowering = attribute && Buffer.from(dump.subarray(attribute.start, attribute.end)).toString();
    const form = generatedForm(operation);
    const shapes = operands.map(({ type }) => (type.kind === 'opaque' ? null : type.shape));
    return {
      name,
      types: operands.map(({ type }) => typeText(type)),
      loops: loopsOf(
        indexingMaps.map(({ results }) => results),
        shapes,
        iteratorTypes,
      ),
      key: form && matchKey(form),
      lowering: lowering?.replace(/^lowering_config\s*=\s*/, '') ?? null,
    };
  });
}

const typeText = (type: Type) =>
  type.kind === 'opaque'
    ? type.text
    : `${type.kind}<${(type.shape ?? []).map((size) => `${size < 0 ? '?' : size}x`).join('')}${type.elementType}>`;

/** A loop has the size of an operand's dimension along the loop. */
function loopsOf(
  maps: readonly (readonly (number | null)[])[],
  shapes: readonly (readonly number[] | null)[],
  iterators: readonly string[],
): Loop[] {
  return iterators.map((iterator, loop) => {
    const i = maps.findIndex((results) => results.includes(loop));
    return { size: shapes[i]?.[maps[i]!.indexOf(loop)] ?? -1, isReduced: iterator === 'reduction' };
  });
}

/**
 * Generics with more operands than a contraction, such as a generic with a fused conversion of an operand. The compiler prints each on
 * one line.
 */
function generics(text: string): Found[] {
  const statement =
    /linalg\.generic \{indexing_maps = \[(.*?)\], iterator_types = \[(.*?)\]\} ins\(([^)]*)\) outs\(([^)]*)\) attrs = +\{.*?lowering_config = (#\w+\.lowering_config<[^>]*>)/g;
  return [...text.matchAll(statement)].flatMap(([, maps, iterators, inputs, outputs, lowering]) => {
    const types = [inputs!, outputs!].flatMap((list) => list.match(/(?:tensor|memref)<[^>]*>/g) ?? []);
    if (types.length <= 3) return [];
    const accesses = mapsIn(maps!).map(({ access }) => access);
    const loops = loopsOf(accesses, types.map(shapeOf), iterators!.match(/\w+/g) ?? []);
    return { name: 'linalg.generic', types, loops, key: null, lowering: lowering! };
  });
}

function packings(text: string): Found[] {
  const statement =
    /\blinalg\.pack [^\n]*\{lowering_config = ([^\n]*)\} : (tensor<[^>]*>) -> (tensor<[^>]*>)/g;
  return [...text.matchAll(statement)].map(([, lowering, source, packed]) => ({
    ...{ name: 'linalg.pack', types: [source!, packed!], loops: [], key: null, lowering: lowering! },
  }));
}

/** Sizes of a type such as `tensor<4x?xf32>`; -1 for a dynamic size. */
export const shapeOf = (type: string): number[] => sizesBefore(/<((?:(?:\d+|\?)x)*)/.exec(type)?.[1] ?? '');
