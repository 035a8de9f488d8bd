import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/folders.ts';

/** The system's limit for arguments and variables together, in bytes. */
const LIMIT = Number(spawnSync('getconf', ['ARG_MAX'], { encoding: 'utf8' }).stdout);

/** A process whose arguments and variables have about `size` bytes becomes `echo` with an argument of `length` bytes. */
function becoming(size: number, length: number) {
  const text = `
    const { become } = await import(${JSON.stringify(join(root, 'src/system/become.ts'))});
    become('/bin/echo', ['became', 'x'.repeat(${length})], process.env);
    console.log('stayed');`;
  const filler = Array.from({ length: Math.ceil(size / 100_000) }, (_, i) => [
    `FILLER${i}`,
    'y'.repeat(Math.min(100_000, size - i * 100_000)),
  ]);
  const { status, signal, stdout } = spawnSync(
    process.execPath,
    ['--conditions=source', '--input-type=module', '-e', text],
    { encoding: 'utf8', env: Object.fromEntries(filler) as NodeJS.ProcessEnv, cwd: root },
  );
  return { status, signal, said: stdout.split(/\s/)[0] };
}

test.runIf(process.platform === 'linux')(
  'a process becomes a program unless the system may refuse its arguments and variables',
  () => {
    const became = { status: 0, signal: null, said: 'became' };
    const stayed = { status: 0, signal: null, said: 'stayed' };
    expect(becoming(10, 20)).toEqual(became);
    expect(becoming(10, 50_000)).toEqual(became);
    expect(becoming(10, 70_000)).toEqual(stayed);
    // Nearly all of the limit is taken by the variables.
    expect(becoming(LIMIT - 4000, 20)).toEqual(became);
    expect(becoming(LIMIT - 4000, 5000)).toEqual(stayed);
    expect(becoming(LIMIT - 4000, 50_000)).toEqual(stayed);
  },
);
