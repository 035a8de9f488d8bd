// The size of the output cache, and the outputs that are held.
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { heldOutput } from '../../src/wrapper/deliver.ts';
import { limitBeside, OUTPUTS_LIMIT } from '../../src/wrapper/outputs.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { commandOf, surroundingsOf } from '../support/inspected.ts';

const MIB = 2 ** 20;

test.each([
  ['a large disk', 100 * MIB, 0, 2 ** 40, OUTPUTS_LIMIT - 100 * MIB],
  ['a disk that older outputs fill', 100 * MIB, 500 * MIB, 16 * MIB, 400 * MIB],
  ['a disk that other files fill', 100 * MIB, 0, 50 * MIB, -1],
  ['a limit that is too small', OUTPUTS_LIMIT + 1, 0, 2 ** 40, -1],
])('%s leaves room for other outputs', (_, bytes, kept, free, limit) => {
  const room = limitBeside(bytes, kept, free);
  if (limit < 0) expect(room).toBeLessThan(0);
  else expect(room).toBe(limit);
});

test('an output is held if it could cost an old one, and if the cache could keep it', () => {
  const surroundings = surroundingsOf();
  const path = join(temporaryDirectory(), 'out.vmfb');
  const isHeld = (mayFallBack: boolean) =>
    heldOutput(commandOf('in.mlir', '-o', path), mayFallBack, surroundings) !== null;
  // A build that may not fall back writes no output if it is refused.
  expect([isHeld(true), isHeld(false)]).toEqual([false, true]);
  writeFileSync(path, 'old');
  expect([isHeld(true), isHeld(false)]).toEqual([true, true]);
  truncateSync(path, OUTPUTS_LIMIT + 1);
  expect([isHeld(true), isHeld(false)]).toEqual([false, false]);
});
