// Invalid command lines of `iree-tuned tune`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { newPlace } from './commands.ts';

const tune = (...words: readonly string[]) => newPlace().run('tune', ...words);

test.each(['0/10', '11/10', '3/0', '3', '-1/10', 'x'])('--shard refuses %s', async (shard) => {
  const { code, err } = await tune('--m', '64', '--shard', shard);
  expect(code).toBe(2);
  expect(err).toMatch(
    /'--shard <part>' argument '.*' is invalid\. It must be one of 1\/N to N\/N, such as 3\/10/,
  );
});

test('--shard refuses misses, which differ between databases', async () => {
  const { code, err } = await tune('--from-misses', '--shard', '1/2');
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining('remove --shard or --from-misses') as string,
  });
});

test('--config names a missing file', async () => {
  const { code, err } = await tune('--config', 'none.cfg');
  expect(code).toBe(1);
  expect(err).toMatch(/none\.cfg/);
  expect(err).not.toMatch(/TypeError/);
});

test.each([[['model.mlir']], [['--again']], [['--m', '64']]])('--config refuses %j', async (words) => {
  const { code, err } = await tune(...words, '--config', 'none.cfg');
  expect(code).toBe(2);
  expect(err).toMatch(/--config allows only --budget, --keep and compiler flags/);
});

test('--config names a missing folder of the output before it tunes', async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'p.mlir'), 'module {}');
  const file = join(folder, 'auto-scheduler.cfg');
  writeFileSync(file, '[Env]\ninput_file = p.mlir\noutput_file = nodir/x.csv\n');
  const { code, err } = await tune('--config', file);
  expect(code).toBe(1);
  expect(err.replace(/\s+/g, ' ')).toMatch(/output_file nodir\/x\.csv: there is no folder .*nodir/);
});
