import { expect, test } from 'vitest';
import { runCompiler } from '../../src/compiler/index.ts';

const run = (script: string) =>
  runCompiler('/bin/sh', ['-c', script], {
    env: process.env,
    stdin: new Uint8Array(),
    capture: true,
    stallSeconds: 1,
  });

test.runIf(process.platform === 'linux')('a child that does nothing is killed', async () => {
  const { code, signal } = await run('exec sleep 60');
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a child that works is not, however long it takes', async () => {
  const busy = 'end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; echo done';
  const { code, stdout } = await run(busy);
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'done\n' });
});
