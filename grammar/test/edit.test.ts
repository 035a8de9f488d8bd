import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyInsertions,
  insertionFor,
  insertionSlices,
  isBytecode,
  lineIndex,
  locate,
  mapBack,
  originalPositions,
} from '../src/main.ts';
import { rows } from '../src/table.ts';
import { bytes, customForm, only, quotedForm } from './fixtures.ts';

const edited = (text: string): string => {
  const insertion = insertionFor(only(text), 'k = 1 : i32');
  return new TextDecoder().decode(applyInsertions(bytes(text), [insertion]));
};

describe.each(rows.map(({ name }) => name))('an attribute added to %s', (name) => {
  test.each([
    ['custom', customForm],
    ['quoted', quotedForm],
  ] as const)('in its %s form is found again', (_, form) => {
    for (const attributes of ['', '{}', '{a = "}", b}']) {
      const operation = only(edited(form(name, attributes)));
      const names = operation.attributes.map((attribute) => attribute.name);
      expect(names).toContain('k');
      expect(names.includes('a')).toBe(attributes.length > 2);
      // A second attribute can be added too.
      expect(only(edited(edited(form(name, attributes)))).attributes).toHaveLength(
        operation.attributes.length + 1,
      );
    }
  });
});

const lists = 'ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>)';

test.each([
  [`linalg.matmul ${lists}`, `linalg.matmul {k = 1 : i32} ${lists}`],
  [`linalg.matmul{} ${lists}`, `linalg.matmul{k = 1 : i32} ${lists}`],
  [`linalg.matmul {a} ${lists} {b}`, `linalg.matmul {k = 1 : i32, a} ${lists} {b}`],
  [`linalg.matmul ${lists} {b}`, `linalg.matmul ${lists} {k = 1 : i32, b}`],
  [`linalg.matmul <{c = 1}> ${lists}`, `linalg.matmul <{c = 1}> {k = 1 : i32} ${lists}`],
  [`linalg.matmul // {\n ${lists}`, `linalg.matmul {k = 1 : i32} // {\n ${lists}`],
  [`linalg.matmul { // a\n} ${lists}`, `linalg.matmul {k = 1 : i32 // a\n} ${lists}`],
  ['torch.aten.mm %a, %b : T, T -> T', 'torch.aten.mm %a, %b {k = 1 : i32} : T, T -> T'],
  ['torch.aten.mm %a, %b// {\n: T, T -> T', 'torch.aten.mm %a, %b// {\n{k = 1 : i32} : T, T -> T'],
  ['stablehlo.dot %a,%b,p=[] {a} :(T,T)->T', 'stablehlo.dot %a,%b,p=[] {k = 1 : i32, a} :(T,T)->T'],
  [
    'torch.operator "onnx.MatMul"(%a, %b) : (T, T) -> T',
    'torch.operator "onnx.MatMul"(%a, %b) {k = 1 : i32} : (T, T) -> T',
  ],
])('%s', (text, expected) => {
  expect(edited(text)).toBe(expected);
});

describe('applyInsertions', () => {
  const apply = (offsets: number[]): string =>
    new TextDecoder().decode(
      applyInsertions(
        bytes('abc'),
        offsets.map((offset, index) => ({ offset, text: `<ü${index}>` })),
      ),
    );

  test('puts texts before the bytes at their offsets', () => {
    expect(apply([])).toBe('abc');
    expect(apply([0, 1, 1, 3])).toBe('<ü0>a<ü1><ü2>bc<ü3>');
  });

  test.each([[[1, 0]], [[4]], [[-1]], [[0.5]], [[NaN]]])('throws a RangeError for %j', (offsets) => {
    expect(() => apply(offsets)).toThrow(RangeError);
  });
});

describe('insertionSlices', () => {
  test('join to the result of applyInsertions; slices of the input join to the input', () => {
    fc.assert(
      fc.property(edits, ({ input, insertions }) => {
        const slices = [...insertionSlices(input, insertions)];
        expect(Buffer.concat(slices)).toEqual(Buffer.from(applyInsertions(input, insertions)));
        const own = slices.filter(({ buffer }) => buffer === input.buffer);
        expect(Buffer.concat(own)).toEqual(Buffer.from(input));
        expect(slices.every(({ length }) => length > 0)).toBe(true);
      }),
    );
  });

  test('share the memory of the input', () => {
    const input = bytes('abc');
    const [first, , last] = insertionSlices(input, [{ offset: 1, text: '<>' }]);
    expect([first, last].map((slice) => [slice!.buffer === input.buffer, slice!.byteOffset])).toEqual([
      [true, 0],
      [true, 1],
    ]);
  });

  test('invalid insertions throw before the first slice', () => {
    expect(() =>
      insertionSlices(
        bytes('abc'),
        [1, 0].map((offset) => ({ offset, text: '' })),
      ),
    ).toThrow(RangeError);
  });
});

describe('locate', () => {
  test.each([
    [0, 1, 1],
    [2, 1, 3],
    [3, 2, 1],
    [4, 3, 1],
    [6, 3, 3],
    [7, 3, 4],
  ])('offset %i is at %i:%i', (offset, line, column) => {
    expect(locate(bytes('ab\n\nüc'), offset)).toEqual({ line, column });
  });

  test('throws a RangeError outside of the input', () => {
    expect(() => locate(bytes('ab'), 3)).toThrow(RangeError);
    expect(() => locate(bytes('ab'), -1)).toThrow(RangeError);
  });
});

describe('the line index', () => {
  test('locates every offset, in any order, over many blocks', () => {
    const text = bytes(`${'x'.repeat(70_000)}\n\nab\n${'y\n'.repeat(70_000)}${'z'.repeat(200_000)}\nend`);
    const index = lineIndex(text);
    const expected = new Map<number, { line: number; column: number }>();
    let [line, start] = [1, 0];
    for (let offset = 0; offset <= text.length; offset++) {
      if (offset % 997 === 0 || (offset > 69_990 && offset < 70_010))
        expected.set(offset, { line, column: offset - start + 1 });
      if (text[offset] === 0x0a) [line, start] = [line + 1, offset + 1];
    }
    for (const [offset, place] of [...expected].toReversed()) {
      expect(index.locate(offset)).toEqual(place);
      expect(index.offsetOf(place.line, place.column)).toBe(offset);
    }
    expect([index.offsetOf(line, 5), index.offsetOf(line + 1, 1), index.offsetOf(2, 2)]).toEqual([
      -1, -1, -1,
    ]);
  });

  test('reads the text once for all places', () => {
    // 300 scans would read 2.4 GB.
    const text = bytes('linalg\n'.repeat(1_200_000));
    const index = lineIndex(text);
    index.locate(text.length);
    const before = process.threadCpuUsage();
    for (let place = 0; place < 300; place++) index.locate(text.length - place * 1000);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(1.5);
  });
});

/** An input with insertions; some are empty, on several lines or not ASCII. */
const edits = fc
  .tuple(
    fc.array(fc.constantFrom('a', '\n', 'ü', ' {x} '), { maxLength: 30 }),
    fc.array(fc.tuple(fc.nat(60), fc.constantFrom('', 'k = 1', '\n', 'é\nf', '{}')), { maxLength: 6 }),
  )
  .map(([pieces, places]) => {
    const input = bytes(pieces.join(''));
    const insertions = places
      .map(([offset, text]) => ({ offset: offset % (input.length + 1), text }))
      .toSorted((a, b) => a.offset - b.offset);
    return { input, insertions };
  });

describe('a place in the edited text', () => {
  /** For each byte of the edited text, and for its end, the offset in the input. */
  const origins = (input: Uint8Array, insertions: readonly { offset: number; text: string }[]): number[] => {
    const found: number[] = [];
    for (let offset = 0; offset <= input.length; offset++) {
      for (const insertion of insertions) {
        if (insertion.offset === offset) found.push(...[...bytes(insertion.text)].map(() => offset));
      }
      found.push(offset);
    }
    return found;
  };

  test('maps back to the place in the input for every byte', () => {
    fc.assert(
      fc.property(edits, ({ input, insertions }) => {
        const edited = applyInsertions(input, insertions);
        const expected = origins(input, insertions);
        expect(expected).toHaveLength(edited.length + 1);
        const positionOf = originalPositions(lineIndex(input), insertions);
        expected.forEach((origin, position) => {
          expect(mapBack(insertions, position)).toBe(origin);
          const { line, column } = locate(edited, position);
          expect(positionOf(line, column)).toEqual(locate(input, origin));
        });
      }),
    );
  });

  test('maps back beyond the end of the input', () => {
    expect(mapBack([{ offset: 1, text: 'ü' }], 10)).toBe(8);
  });

  test.each([[-1], [0.5], [NaN]])('throws a RangeError for the offset %d', (position) => {
    expect(() => mapBack([], position)).toThrow(RangeError);
  });

  test.each([
    [0, 1],
    [1, 0],
    [1, 5],
    [2, 3],
    [3, 1],
    [1.5, 1],
    [1, NaN],
    [Infinity, 1],
  ])('throws a RangeError for line %d, column %d', (line, column) => {
    const positionOf = originalPositions(lineIndex(bytes('a\nb')), [{ offset: 1, text: 'xy' }]);
    expect(() => positionOf(line, column)).toThrow(RangeError);
  });

  test('throws a RangeError behind each end of a line, and nowhere else', () => {
    fc.assert(
      fc.property(edits, ({ input, insertions }) => {
        const positionOf = originalPositions(lineIndex(input), insertions);
        const lines = Buffer.from(applyInsertions(input, insertions)).toString('latin1').split('\n');
        lines.forEach(({ length }, index) => {
          expect(() => positionOf(index + 1, length + 1)).not.toThrow();
          expect(() => positionOf(index + 1, length + 2)).toThrow(RangeError);
        });
        expect(() => positionOf(lines.length + 1, 1)).toThrow(RangeError);
      }),
    );
  });

  test('reads the text once for all diagnostics', () => {
    // 300 scans would look for 36 million ends of lines.
    const text = bytes(`${'x'.repeat(70)}\n`.repeat(120_000));
    const insertions = Array.from({ length: 300 }, (_, index) => ({ offset: index * 28_000, text: '{a}' }));
    const before = process.threadCpuUsage();
    const positionOf = originalPositions(lineIndex(text), insertions);
    for (let place = 0; place < 300; place++) positionOf(120_000 - place * 100, 3);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(1.5);
  });
});

test('bytecode is known by its first four bytes', () => {
  expect(isBytecode(Uint8Array.of(0x4d, 0x4c, 0xef, 0x52, 1))).toBe(true);
  expect(isBytecode(Uint8Array.of(0x4d, 0x4c, 0xef))).toBe(false);
  expect(isBytecode(bytes('module {}'))).toBe(false);
});
