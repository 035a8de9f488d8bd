import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyInsertions, insertionFor, parse, type ParseResult } from '../src/main.ts';
import { rows } from '../src/table.ts';
import { bytes, customForm, quotedForm } from './fixtures.ts';
import { wrongReading } from './fuzz.ts';
import { isFull } from '../../test/support/needs.ts';

/** A text for each row, between comments, strings and braces. */
const seeds = rows.map(({ name }) =>
  bytes(
    [
      '#map = affine_map<(d0, d1) -> (d0)>\n!T = tensor<3x5xf32>\nutil.global private @g = dense<"0x00"> : !T\n',
      customForm(name, '{a = [1, "}"]}'),
      quotedForm(name),
      '// -----\n{-# dialect_resources: { builtin: { a: "0x00" } } #-}\n',
    ].join(''),
  ),
);

/** The first violation: offsets out of range or out of order, or overlapping operations. Null without one. */
function wrongResult(input: Uint8Array, { operations, problems }: ParseResult): string | null {
  let last = 0;
  for (const { kind, start, end, insertion, operands, indexingMaps } of operations) {
    if (start < last || end <= start) return `an operation from ${start} to ${end} after one up to ${last}`;
    last = end;
    if (insertion.offset <= start || insertion.offset > end) return `an insertion at ${insertion.offset}`;
    if (indexingMaps.length !== (kind === 'contraction' ? operands.length : 0))
      return `${indexingMaps.length} maps of ${operands.length} operands`;
  }
  if (last > input.length) return `an operation up to ${last} of ${input.length}`;
  const outside = problems.find(({ offset }) => !(offset >= 0 && offset <= input.length));
  return outside === undefined ? null : `a problem at ${outside.offset}`;
}

function parseBoth(input: Uint8Array): void {
  for (const splitInputFile of [false, true]) {
    const result = parse(input, { splitInputFile });
    // expect() would take most of the time.
    const wrong =
      wrongResult(input, result) ?? (splitInputFile ? null : wrongReading(input, result.operations));
    if (wrong !== null) throw new Error(wrong);
  }
}

/** Pieces of syntax, in random order. */
const pieces = fc.constantFrom(
  ...'linalg.matmul|linalg.generic|linalg.contract|linalg.quantized_matmul|linalg.conv_2d|stablehlo.dot_general|torch.aten.mm|torch.operator|"torch.operator"(|"onnx.MatMul"|name = "onnx.Gemm"|%a, %b, |x = [0] x [1]|!torch.vtensor|<[2,?],f32>|"linalg.matmul"(|"linalg.generic"(|ins(|outs(|%a|%a, %b|: |tensor<|3x|?x|f32|>|)|(|{|}|[|]|<|<{|}>|->|"|\\|//|\n|// -----|{-#|#-}|#map|!T|#map = |!T = |affine_map<(d0) -> (d0)>|indexing_maps = |iterator_types = |["parallel", "reduction"]|attrs = |operandSegmentSizes = |^bb0(|arith.mulf|linalg.yield|transform.named_sequence|@f|func.func|arith.constant|util.global|sym_name = "a"|%0 = |%1:2 = |%0, %1 |return |linalg.map |arith.addf|#trait|#a.b<|loc(|loc(#a)|#a = |"f":1:2|fused[|=|,|-|é|\0'.split(
    '|',
  ),
);

describe('never throws', () => {
  test('on random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), parseBoth), { numRuns: isFull ? 2000 : 500 });
  });

  test('on random pieces of syntax', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (list) => {
        parseBoth(bytes(list.join(' ')));
      }),
      { numRuns: isFull ? 5000 : 1000 },
    );
  });

  test('on truncated text', () => {
    for (const seed of seeds) {
      for (let length = 0; length <= seed.length; length += isFull ? 11 : 53)
        parseBoth(seed.subarray(0, length));
    }
  });

  test('on mutated text', () => {
    const mutation = fc.record({
      where: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.nat(8),
      insert: fc.oneof(fc.uint8Array({ maxLength: 4 }), pieces.map(bytes)),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        (seed, mutations) => {
          let input = seed;
          for (const { where, remove, insert } of mutations) {
            const at = Math.floor(where * input.length);
            input = Buffer.concat([input.subarray(0, at), insert, input.subarray(at + remove)]);
          }
          parseBoth(input);
        },
      ),
      { numRuns: isFull ? 2000 : 500 },
    );
  });
});

test('without its insertions an edited text is the input, and with them it has the same operations', () => {
  const noise = fc.constantFrom(
    '// linalg.matmul {\n',
    '"foo.bar"() {a = "}{"} : () -> ()\n',
    '\n\n',
    '%k = foo.bar : !a->!b\n',
  );
  const operation = fc
    .tuple(fc.constantFrom(...rows), fc.boolean(), fc.constantFrom('', '{}', '{a}', '{a = [1, {b}]}'))
    .map(([{ name }, custom, attributes]) =>
      custom ? customForm(name, attributes) : quotedForm(name, attributes),
    );
  fc.assert(
    fc.property(fc.array(fc.oneof(noise, operation), { maxLength: 12 }), (parts) => {
      const input = bytes(parts.join(''));
      const { operations, problems } = parse(input);
      expect(problems).toEqual([]);
      const insertions = operations.map((found, index) => insertionFor(found, `tuned = ${index} : i32`));
      const output = applyInsertions(input, insertions);

      const again = parse(output);
      expect(again.problems).toEqual([]);
      expect(again.operations.map(({ name }) => name)).toEqual(operations.map(({ name }) => name));
      again.operations.forEach((found, index) => {
        const added = found.attributes.find(({ name }) => name === 'tuned')!;
        expect(new TextDecoder().decode(output.subarray(added.start, added.end))).toBe(
          `tuned = ${index} : i32`,
        );
      });

      const pieces: Uint8Array[] = [];
      let from = 0;
      let added = 0;
      for (const { offset, text } of insertions) {
        pieces.push(output.subarray(from, offset + added));
        added += text.length;
        from = offset + added;
      }
      pieces.push(output.subarray(from));
      expect(Buffer.concat(pieces).equals(Buffer.from(input))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
