// @module-tag slow
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { root } from '../compiler/support.ts';
import { write } from '../support/scripts.ts';

test('a process detects the end of a shell between it and a client', async () => {
  const script = write(
    join(temporaryDirectory(), 'child.ts'),
    `import { whenOrphaned } from '${root}/src/system/parent.ts';
    const begun = process.ppid;
    whenOrphaned(() => console.log(process.ppid === begun ? 'too early' : 'orphaned'));
    console.log('ready');`,
  );
  const shell = spawn('sh', ['-c', '"$0" "$1" & wait', process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output === 'ready\n') shell.kill('SIGKILL');
  });
  await new Promise((resolve) => shell.stdout.on('close', resolve));
  expect(output).toBe('ready\norphaned\n');
});
