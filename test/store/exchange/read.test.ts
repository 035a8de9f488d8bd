// Validation of received lines: it never throws, accepts no invalid line, and treats each line on its own.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINES, lineText, LONGEST_LINE } from '../../../src/store/exchange/lines.ts';
import { readLine, readLines, readValue } from '../../../src/store/exchange/read.ts';
import { TILE } from '../samples.ts';
import {
  claimLineOf,
  markLineOf,
  noteLineOf,
  partLinesOf,
  revocationLineOf,
  SAMPLE,
  trialLineOf,
} from './samples.ts';

const outcomeOf = (value: unknown) => readValue(value).outcome;
const reasonOf = (value: unknown) => {
  const reading = readValue(value);
  return reading.outcome === 'refused' ? reading.reason : reading.outcome;
};

it('accepts a line of each type, and writes it unchanged', () => {
  expect(new Set(SAMPLE.map(({ type }) => type))).toEqual(new Set(Object.keys(LINES)));
  for (const line of SAMPLE) expect(readLine(lineText(line))).toEqual({ outcome: 'line', line });
});

it('writes keys in a canonical order', () => {
  for (const line of SAMPLE) {
    const texts = [Object.entries(line), Object.entries(line).reverse()].map((entries) => {
      const reading = readValue(Object.fromEntries(entries));
      return reading.outcome === 'line' && lineText(reading.line);
    });
    expect(texts[1]).toBe(texts[0]);
  }
});

const EVIL = [
  '<mlir>',
  "'; DROP TABLE claim; --",
  '"#iree_codegen.compilation_info<>"',
  ''.padEnd(20_000, 'x'),
];
/** Its text exhausts the stack. */
const ENDLESS = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
const CONTROL = ['\u001b[2J', '\0', 'a\rb', '\ud800'];

describe('refuses', () => {
  const claim = claimLineOf();
  const evidence = (change: object) => claimLineOf({ evidence: change });
  it.each<[string, unknown, string]>([
    ['nothing', null, 'it has no type'],
    ['a list', [claim], 'it has no type'],
    ['no version', { type: 'claim' }, 'it has no version'],
    ['a version that is no number', { ...claim, version: '1' }, 'it has no version'],
    ['a version before the first', { ...claim, version: 0 }, 'claim: "version"'],
    ['a key too many', { ...claim, mlir: 'x' }, 'claim: "mlir"'],
    ['a key too few', { ...claim, machine: undefined }, 'claim: "machine"'],
    ['a changed claim', { ...claim, createdBy: 'somebody else' }, 'digest'],
    ['an empty key', claimLineOf({ device: '' }), 'claim: "device" cannot be ""'],
    ['a ratio that JSON cannot say', evidence({ ratio: NaN }), 'claim: "ratio" cannot be null'],
    ['an infinite end', evidence({ high: Infinity }), 'claim: "high"'],
    ['a gain below its interval', evidence({ ratio: 1 }), 'low <= ratio <= high'],
    ['a negative time', evidence({ seconds: -1 }), 'claim: "seconds" cannot be -1'],
    ['a time as a text', evidence({ seconds: '1' as unknown as number }), 'claim: "seconds"'],
    ['half a process', evidence({ processes: 0.5 }), 'claim: "processes"'],
    ['families out of order', evidence({ families: ['tile', 'data-tile'] }), 'claim: "families"'],
    ['a version of evidence beyond any', evidence({ version: 1e6 }), 'claim: "version"'],
    ['a configuration that is a text', { ...claim, configuration: 'tile' }, 'claim: "configuration"'],
    [
      'a configuration with MLIR in it',
      { ...claim, configuration: { ...TILE, distribution: ['#iree_gpu'] } },
      'claim: "configuration"',
    ],
    [
      'a configuration of more than 4 KB',
      claimLineOf({
        configuration: {
          ...TILE,
          distribution: Array<number>(600).fill(1048576),
          vectorCommonParallel: Array<number>(600).fill(1048576),
          vectorReduction: Array<number>(600).fill(0),
        },
      }),
      'claim: "configuration"',
    ],
    [
      'a mark of the default',
      markLineOf({ configuration: { version: 1, kind: 'default' } }),
      'it marks the default',
    ],
    ['a generation below the first', markLineOf({ generation: -1 }), 'mark: "generation"'],
    ['an unknown kind of mark', { ...markLineOf(), kind: 'ugly' }, 'mark: "kind"'],
    ['some day', markLineOf({ createdAt: 'yesterday' }), 'mark: "createdAt"'],
    ['an id of another kind', trialLineOf({ id: '1' }), 'trial: "id"'],
    ['a measured trial without a time', trialLineOf({ seconds: null }), 'trial: '],
    ['a failed trial with one', trialLineOf({ outcome: 'timeout' }), 'trial: '],
    [
      'times of other sizes than the default',
      trialLineOf({ runs: trialLineOf().runs.map((run) => ({ ...run, seconds: [1] })) }),
      'trial: a run has times and default times',
    ],
    ['an unknown scope', { ...revocationLineOf(), scope: 'all' }, 'revocation: "scope"'],
    ['a revocation of nothing', revocationLineOf({ value: '' }), 'revocation: "value"'],
    ['a note that is a text', noteLineOf({ note: 'better' }), 'note: "note"'],
    ['a note that is a list', noteLineOf({ note: [] }), 'note: "note"'],
    ['a note without content', noteLineOf({ note: undefined }), 'note: "note" cannot be missing'],
    ['a note beyond all measure', noteLineOf({ note: { reason: 'ä'.repeat(2 ** 18) } }), 'note: "note"'],
    ['a note of control characters', noteLineOf({ note: { of: [{ reason: '\u001b[2J' }] } }), 'note: "note"'],
    ['a note with such a name', noteLineOf({ note: { '\u001b[2J': 1 } }), 'note: "note"'],
    ['a note with an infinite number', noteLineOf({ note: { budgetSeconds: Infinity } }), 'note: "note"'],
    [
      'a note that is nested without end',
      noteLineOf({ note: { of: ENDLESS } }),
      'note: "note" cannot be nested',
    ],
    ['a form that is', { ...partLinesOf()[1], form: ENDLESS }, 'target: "form" cannot be nested'],
    [
      'a configuration that is',
      { ...claim, configuration: ENDLESS },
      'claim: "configuration" cannot be nested',
    ],
    ['a note of times', { ...noteLineOf(), kind: 'times' }, 'note: "kind" cannot be "times"'],
    ['a note about no program', noteLineOf({ program: 'main' }), 'note: "program"'],
    ['a note about a program nowhere', noteLineOf({ program: '["digest",1,2,3]' }), 'note: "program"'],
    [
      'a note about a program of a long name',
      noteLineOf({ program: JSON.stringify(['x'.repeat(20_000), 'a', 'b', 'c']) }),
      'note: "program"',
    ],
    ['a note without an origin', { ...noteLineOf(), machine: undefined }, 'note: "machine"'],
    ['a note of some day', noteLineOf({ writtenAt: 'yesterday' }), 'note: "writtenAt"'],
    ['a form of another workload', { ...partLinesOf()[0], key: 'contraction m=1' }, 'workload: '],
    [
      'a form beyond all measure',
      { ...partLinesOf()[1], form: 'x'.repeat(70_000) },
      'target: "form" cannot be "xxx',
    ],
  ])('%s', (_, value, reason) => {
    expect(reasonOf(value)).toContain(reason);
  });

  it('control characters and excessive lengths in every field', () => {
    const fields = [
      ...(['workload', 'target', 'device', 'compiler', 'createdBy', 'machine', 'tool'] as const).map(
        (field) => (text: string) => claimLineOf({ [field]: text }),
      ),
      ...(['reason', 'createdBy'] as const).map((field) => (text: string) => markLineOf({ [field]: text })),
      (text: string) => trialLineOf({ strategy: text }),
      (text: string) => trialLineOf({ message: text, outcome: 'timeout', seconds: null, ratio: null }),
      (text: string) => revocationLineOf({ reason: text }),
      ...(['createdBy', 'machine', 'tool'] as const).map(
        (field) => (text: string) => noteLineOf({ [field]: text }),
      ),
    ];
    for (const lineWith of fields) {
      expect(outcomeOf(lineWith('harmless'))).toBe('line');
      for (const text of [...CONTROL, EVIL.at(-1)!]) expect(outcomeOf(lineWith(text))).toBe('refused');
      // Only people read it.
      for (const text of EVIL.slice(0, -1)) expect(outcomeOf(lineWith(text))).toBe('line');
    }
  });

  it('damaged lines without throwing; an accepted line can be written and read again', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SAMPLE),
        fc.string(),
        fc.oneof(fc.jsonValue(), fc.constantFrom(NaN, -1, Infinity, ...EVIL, ...CONTROL)),
        fc.nat(),
        fc.boolean(),
        (line, name, value, place, isNested) => {
          const keys = Object.keys(line);
          const key = keys[place % keys.length]!;
          const changed: Record<string, unknown> = { ...line };
          if (isNested) changed[key] = { ...(changed[key] as object), [name]: value };
          else changed[place % 7 === 0 ? name : key] = value;
          const reading = readLine(JSON.stringify(changed));
          if (reading.outcome === 'line')
            expect(readLine(lineText(reading.line))).toEqual({ outcome: 'line', line: reading.line });
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('a file', () => {
  const read = async (...chunks: readonly (string | Uint8Array)[]) => {
    const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
    const found: string[] = [];
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream is
    const stream = (async function* () {
      yield* bytes;
    })();
    for await (const { number, reading } of readLines(stream))
      found.push(`${number} ${reading.outcome === 'refused' ? reading.reason : reading.outcome}`);
    return found;
  };
  const line = lineText(claimLineOf());

  it('is read line by line, for any chunks', async () => {
    const bytes = Buffer.from(`\ufeff${line}\r\n\n  \n{"type":"ä","version":1}\nnonsense\n${line}`);
    const expected = ['1 line', '4 foreign', '5 it is not JSON', '6 line'];
    for (const size of [1, 2, 3, 1000, bytes.length]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await read(...chunks)).toEqual(expected);
    }
    expect(await read()).toEqual([]);
  });

  it('is read further after invalid UTF-8 or an excessive line', async () => {
    const long = 'x'.repeat(LONGEST_LINE / 4);
    expect(
      await read(Buffer.from([0x7b, 0xff, 0x0a]), long, long, long, long, long, '\n', line, '\n'),
    ).toEqual(['1 it is not UTF-8', `2 it is longer than ${LONGEST_LINE} bytes`, '3 line']);
  });
});
