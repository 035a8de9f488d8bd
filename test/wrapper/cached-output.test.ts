// The output cache keeps no output of a changed input.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readInput } from '../../src/input/text.ts';
import { cachedOutput } from '../../src/wrapper/deliver.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { commandOf, matmulText, surroundingsOf } from '../support/inspected.ts';

test('an output is kept, unless its input has changed since it was read', async () => {
  const folder = temporaryDirectory();
  const [path, module] = [join(folder, 'in.mlir'), join(folder, 'module.vmfb')];
  const command = commandOf(path, '-o', join(folder, 'out.vmfb'));
  const surroundings = surroundingsOf({ outputs: true });
  for (const isEdited of [true, false]) {
    writeFileSync(path, matmulText(8, 16, 32));
    const input = await readInput(path, surroundings.cacheDirectory);
    const cached = cachedOutput(command, input!, 'plan', surroundings);
    if (isEdited) writeFileSync(path, matmulText(9, 16, 32));
    writeFileSync(module, 'module');
    expect([isEdited, (await cached.keep(module, Buffer.from(''))) !== null]).toEqual([isEdited, !isEdited]);
  }
});
