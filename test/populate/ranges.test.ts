import { describe, expect, test } from 'vitest';
import { parseSizeList } from '../../src/populate/ranges.ts';

const sizes = (text: string) => parseSizeList(text, '--m');

describe('sizes of a sweep', () => {
  test('a range ends before its end, as in Python', () => {
    expect(sizes('64:1024:128')).toEqual([64, 192, 320, 448, 576, 704, 832, 960]);
    expect(sizes('64:1025:320')).toEqual([64, 384, 704, 1024]);
    expect(sizes('3:6')).toEqual([3, 4, 5]);
    expect(sizes('5:6:100')).toEqual([5]);
  });

  test('lists keep their order, and each size once', () => {
    expect(sizes('512')).toEqual([512]);
    expect(sizes('512, 256,512')).toEqual([512, 256]);
    expect(sizes('1,64:193:64')).toEqual([1, 64, 128, 192]);
  });

  test.each([
    ['', 'not a size'],
    ['64,', '"" is not a size'],
    ['-64', '"-64" is not a size'],
    ['6.4', 'not a size'],
    ['1e3', 'not a size'],
    ['64:128:32:1', 'not a size'],
    ['64::32', 'not a size'],
    ['0', 'a size must be at least 1, not 0'],
    ['0:64:32', 'a size must be at least 1'],
    ['64:128:0', 'the step must be at least 1'],
    ['128:64:32', 'the range from 128 to 64 is empty'],
    ['64:64', 'the range from 64 to 64 is empty'],
    ['1:999999999', 'more than 100000 sizes'],
  ])('%j is refused by name', (text, message) => {
    expect(() => sizes(text)).toThrow(message);
    expect(() => sizes(text)).toThrow(`--m ${text}`);
  });
});
