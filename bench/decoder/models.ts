// The calls of a decoder that the bench measures.
import { UsageError } from '../shared/arguments.ts';

/** Of the decoder. */
export interface Sizes {
  readonly layers: number;
  readonly width: number;
  /** Heads of queries; four share a head of keys. */
  readonly heads: number;
  /** Number of different tokens. */
  readonly vocabulary: number;
}

/** 124 million weights. */
export const DEFAULT_SIZES: Sizes = { layers: 12, width: 768, heads: 12, vocabulary: 32000 };
/** For tests of the bench. */
export const TINY_SIZES: Sizes = { layers: 2, width: 128, heads: 8, vocabulary: 512 };

/** A call of one function at one size. */
export interface Model {
  /** Name in the table and on the command line: `prefill-128`, `f16:decode-4`. */
  readonly name: string;
  /** A type of `export.py`. */
  readonly type: string;
  /** Whether IREE's program has dynamic sizes, and its weights are parameters. */
  readonly isDynamic: boolean;
  readonly phase: Phase;
  /** Tokens of a sequence for `prefill`, sequences for `decode`. */
  readonly size: number;
}

type Phase = 'prefill' | 'decode';

/** A call computes as many tokens as its size says. */
const CALLS: Readonly<Record<Phase, readonly number[]>> = { prefill: [32, 128, 512], decode: [1, 4, 16] };
/** By their names: the type of `export.py`, and whether the program has dynamic sizes. */
const KINDS: Readonly<Record<string, Pick<Model, 'type' | 'isDynamic'>>> = {
  f32: { type: 'f32', isDynamic: false },
  f16: { type: 'f16', isDynamic: false },
  int8: { type: 'int8', isDynamic: false },
  int4: { type: 'int4', isDynamic: true },
  dynamic: { type: 'f32', isDynamic: true },
};

const ofKind = (kind: string): Model[] =>
  (Object.keys(CALLS) as Phase[]).flatMap((phase) =>
    CALLS[phase].map((size) => ({ name: `${kind}:${phase}-${size}`, ...KINDS[kind]!, phase, size })),
  );

const GROUPS = new Map<string, readonly Model[]>(Object.keys(KINDS).map((kind) => [kind, ofKind(kind)]));
const ALL = [...GROUPS.values()].flat();

/**
 * The models of a command line, in the order of `ALL`.
 * @param asked names of models and kinds; empty for f32
 * @throws UsageError for an unknown name
 */
export function modelsFor(asked: readonly string[]): Model[] {
  const found = new Set<Model>();
  for (const name of asked.length === 0 ? ['f32'] : asked) {
    const models = GROUPS.get(name) ?? ALL.filter((model) => model.name === name);
    if (models.length === 0) {
      const known = [...GROUPS.keys(), ...ALL.map((model) => model.name)];
      throw new UsageError(`${name}: there is no such model; give ${known.join(', ')}`);
    }
    for (const model of models) found.add(model);
  }
  return ALL.filter((model) => found.has(model));
}

/** Tokens of one call of the model of this name. */
export const tokensOf = (name: string): number => ALL.find((model) => model.name === name)!.size;
