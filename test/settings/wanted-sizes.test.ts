import { describe, expect, test } from 'vitest';
import { parseSizes, sizesByKind, sizesText } from '../../src/settings/wanted-sizes.ts';

describe('sizes', () => {
  test.each<[string, string | null]>([
    ['', ''],
    ['  ', ''],
    ['m=1,16,128', 'm=1,16,128'],
    ['m=128,1,16,1', 'm=1,16,128'],
    ['n=2 m=1;k=3,4', 'k=3,4 m=1 n=2'],
    ['m=1 m=8', 'm=1,8'],
    ['b=2', 'batch=2'],
    ['batch=2 seq=1', 'batch=2 seq=1'],
    ['arg0.1=64 prefill.seq=8', 'arg0.1=64 prefill.seq=8'],
    ['batch=1 seq=512/batch=4,16 seq=1', 'batch=1 seq=512 / batch=4,16 seq=1'],
    ['my-model.s0=1', 'my-model.s0=1'],
    ['m=1 /', null],
    ['/', null],
    ['=1', null],
    ['m=0', null],
    ['m=-1', null],
    ['m=1,', null],
    ['m', null],
    ['16', null],
    ['m=99999999999999999999', null],
  ])('%s', (text, canonical) => {
    const wanted = parseSizes(text);
    expect(wanted && sizesText(wanted)).toBe(canonical);
    if (canonical !== null) expect(parseSizes(canonical)).toEqual(parseSizes(sizesText(wanted!)));
  });

  test('of kinds of dimensions come from all sets', () => {
    expect(sizesByKind(parseSizes('m=1 b=4 / m=64 seq=8')!)).toEqual({ batch: [4], m: [1, 64] });
  });
});
