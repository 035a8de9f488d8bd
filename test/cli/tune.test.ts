// `iree-tuned tune --config`, with a settings file of IREE's auto-scheduler.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { runCommand } from './commands.ts';

const tune = (...words: readonly string[]) =>
  runCommand(['tune', ...words], { cwd: temporaryDirectory(), env: { HOME: temporaryDirectory() } });

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
