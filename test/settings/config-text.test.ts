import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseConfigText } from '../../src/settings/config-text.ts';

function values(text: string) {
  const { entries, problem } = parseConfigText(text);
  expect(problem).toBeNull();
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}

describe('a settings file', () => {
  test.each<[string, object]>([
    ['{}', {}],
    [' { "a" : 1 , "b":"x" } \n', { a: 1, b: 'x' }],
    [
      '{"a": -2.5e3, "b": true, "c": false, "d": "\\u00e9 \\"q\\" \\\\"}',
      { a: -2500, b: true, c: false, d: 'é "q" \\' },
    ],
    ['{"a": ["x", "y",], "b": []}', { a: ['x', 'y'], b: [] }],
    ['\uFEFF{"a": 1}', { a: 1 }],
  ])('%s is read', (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  it('may have comments and trailing commas', () => {
    expect(values('// first\n{ // second\n  "a": "// not one", // third\n}\n// last')).toEqual({
      a: '// not one',
    });
  });

  it('parses any flat JSON object like JSON.parse', () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
    );
    const flat = fc.dictionary(
      fc.string({ unit: 'binary' }).filter((key) => key !== '__proto__'),
      fc.oneof(scalar, fc.array(scalar)),
    );
    fc.assert(
      fc.property(flat, fc.boolean(), (object, isIndented) => {
        const text = JSON.stringify(object, null, isIndented ? 2 : 0);
        expect(values(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('has the position of each key', () => {
    expect(parseConfigText('{ "a": 1,\n  // note\n  "b": 2 }').entries).toEqual([
      { key: 'a', value: 1, line: 1, column: 3 },
      { key: 'b', value: 2, line: 3, column: 3 },
    ]);
  });

  test.each([
    ['', '1:1: expected {, found the end of the file'],
    ['{', '1:2: expected a key in double quotes, found the end of the file'],
    ['{"a": 1', '1:8: expected , or }, found the end of the file'],
    ['{"a": tune}', '1:7: expected a value, found tune'],
    ["{\n  'a': 1}", "2:3: expected a key in double quotes, found 'a'"],
    ['{a: 1}', '1:2: expected a key in double quotes, found a'],
    ['{"a" 1}', '1:6: expected :, found 1'],
    ['{"a": 1\n"b": 2}', '2:1: expected , or }, found "b"'],
    ['{"a": {}}', '1:7: expected a value, found {'],
    ['{"a": [[]]}', '1:8: expected a value, found ['],
    ['{"a": null}', '1:7: expected a value, found null'],
    ['{"a": 01}', '1:8: expected , or }, found 1'],
    ['{"a": "\\x"}', '1:7: expected a value, found "\\x"'],
    ['{"a": "x\n"}', '1:7: expected a value, found "x'],
    ['{"a": ["x" "y"]}', '1:12: expected , or ], found "y"'],
    ['{"a": ["x",,]}', '1:12: expected a value, found ,'],
    ['{"a": [', '1:8: expected a value, found the end of the file'],
    ['{"a": "x\ty"}', '1:7: expected a value, found "x\ty"'],
    ['{ /* no */ "a": 1}', '1:3: expected a comment that begins with //, found /* no */'],
    ['{"a": /* never\nending', '1:7: expected a value, found /* never'],
    ['"a"', '1:1: expected {, found "a"'],
    ['{,}', '1:2: expected a key in double quotes, found ,'],
    ['{} {}', '1:4: expected nothing more, found {'],
    ['[]', '1:1: expected {, found ['],
    ['# yaml\na: 1', '1:1: expected {, found #'],
  ])('%j is refused with its position', (text, message) => {
    expect(parseConfigText(text)).toEqual({ entries: [], problem: message });
  });
});
