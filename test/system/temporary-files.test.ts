// The rests of killed writers beside the files of users.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { owner, removeLeftovers, replaceFile } from '../../src/system/temporary-files.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { deadOwner } from '../support/owners.ts';

test.runIf(process.platform === 'linux')('of dead processes go, and all other files stay', () => {
  const folder = temporaryDirectory();
  const dead = deadOwner();
  const rests = ['', '-wal', '-shm', '-journal'].map((end) => `tuning.db.${dead}.tmp${end}`);
  const others = [
    'tuning.db',
    `tuning.db.${owner()}.tmp`,
    `tuning.db.${dead}.tmp.gz`,
    `tuning.db.${dead}-mine.tmp`,
    `tuning.db.copy.${dead}.tmp`,
    `other.db.${dead}.tmp`,
    `tuning.db.00000000-1-1.tmp`,
  ];
  for (const name of [...rests, ...others]) writeFileSync(join(folder, name), '');
  removeLeftovers(join(folder, 'tuning.db'));
  expect(readdirSync(folder).sort()).toEqual(others.sort());
  removeLeftovers(join(folder, 'missing', 'tuning.db'));
});

test('a failed write leaves the old file, and nothing else', () => {
  const folder = temporaryDirectory();
  const path = join(folder, 'file');
  writeFileSync(path, 'old');
  const failed = () => {
    replaceFile(path, (temporary) => {
      for (const end of ['', '-wal', '-shm', '-journal']) writeFileSync(temporary + end, '');
      throw new Error('full');
    });
  };
  expect(failed).toThrow('full');
  expect(readdirSync(folder)).toEqual(['file']);
});
