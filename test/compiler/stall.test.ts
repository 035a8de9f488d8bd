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
  const { code, signal, stalled } = await run('exec sleep 60');
  expect({ code, signal, stalled }).toEqual({ code: null, signal: 'SIGKILL', stalled: true });
});

test('a child that works is not, however long it takes', async () => {
  const busy = 'end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; echo done';
  const { code, stalled, stdout } = await run(busy);
  expect({ code, stalled, stdout: stdout.toString() }).toEqual({ code: 0, stalled: false, stdout: 'done\n' });
});
