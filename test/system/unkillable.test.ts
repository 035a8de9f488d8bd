import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  foundUnkillable,
  noteUnkillable,
  refuseBesideUnkillable,
  refuseNoted,
} from '../../src/system/unkillable.ts';
import { temporaryDirectory } from '../support/folders.ts';

const refusal = (pid: number) => new RegExp(`^process ${pid} \\(sleep\\) does not end, even by SIGKILL`);

test.runIf(process.platform === 'linux')(
  'a child that does not end is refused as long as it is there',
  async () => {
    const note = join(temporaryDirectory(), 'note');
    noteUnkillable(note);
    expect(existsSync(note)).toBe(false);
    const child = spawn('sleep', ['600']);
    await once(child, 'spawn');
    const pid = child.pid!;
    expect(foundUnkillable(pid).message).toMatch(refusal(pid));
    noteUnkillable(note);
    expect(refuseBesideUnkillable).toThrow(refusal(pid));
    expect(() => {
      refuseNoted(note);
    }).toThrow(refusal(pid));
    child.kill('SIGKILL');
    await once(child, 'exit');
    refuseBesideUnkillable();
    refuseNoted(note);
  },
);

test.each(['', '[]', '{', '[{"pid":1}]', '[{"pid":1,"started":"-1"}]', '[{"pid":-1,"started":null}]'])(
  'a note that says %j refuses nothing',
  (text) => {
    const note = join(temporaryDirectory(), 'note');
    refuseNoted(note);
    writeFileSync(note, text);
    refuseNoted(note);
  },
);
