// The written parts of results of a sample.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepRanges, writtenRanges } from '../../src/program/written.ts';
import { UNWRITTEN_BYTE } from '../../src/workload/guarded.ts';
import { temporaryDirectory } from '../support/folders.ts';

const type = { elementType: 'f32', shape: null };
const unwritten = (count: number) => Array<number>(4 * count).fill(UNWRITTEN_BYTE);

test('only written elements are kept, also those that have a filled byte', async () => {
  const one = [UNWRITTEN_BYTE, UNWRITTEN_BYTE, UNWRITTEN_BYTE, 1];
  const bytes = Uint8Array.from([...unwritten(2), ...one, ...one, ...unwritten(3), ...one]);
  const ranges = writtenRanges(bytes, type);
  expect(ranges).toEqual([
    [8, 16],
    [28, 32],
  ]);
  const file = join(temporaryDirectory(), 'result.bin');
  writeFileSync(file, bytes);
  await keepRanges(file, ranges);
  expect([...readFileSync(file)]).toEqual([...one, ...one, ...one]);
});

test('the bytes around a result, of which nothing is written, stay whole', () => {
  expect(writtenRanges(Uint8Array.from(unwritten(4)), type)).toEqual([[0, 16]]);
});
