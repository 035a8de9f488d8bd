import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Command, Compile } from '../../src/compiler/command.ts';
import { deliverFile } from '../../src/wrapper/deliver.ts';
import { KeptModules } from '../../src/plan/kept-modules.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { commandOf } from '../support/inspected.ts';

const compile = { argv: ['in.mlir', '-o', 'out.vmfb'], stdin: undefined };

/** A kept module of `compile`. */
async function keptIn(folder: string): Promise<KeptModules> {
  const kept = new KeptModules();
  const module = join(folder, 'kept.vmfb');
  writeFileSync(module, 'module');
  await kept.note(module, compile);
  return kept;
}

async function deliver(of: Compile, kept: KeptModules, command: Command): Promise<boolean> {
  const module = await kept.find(of);
  return module !== null && deliverFile(module, command);
}

const commandFor = (path: string, ...flags: string[]) => commandOf('in.mlir', '-o', path, ...flags);

test('a kept module is written as the compiler would write it', async () => {
  const folder = temporaryDirectory();
  const kept = await keptIn(folder);
  const target = join(folder, 'target.vmfb');
  writeFileSync(target, 'a longer one that was there before');
  chmodSync(target, 0o640);
  symlinkSync('target.vmfb', join(folder, 'link.vmfb'));
  expect(await deliver(compile, kept, commandFor(join(folder, 'link.vmfb')))).toBe(true);
  expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['module', 0o640]);
  expect(await deliver(compile, kept, commandFor(join(folder, 'new.vmfb')))).toBe(true);
  expect(readFileSync(join(folder, 'new.vmfb'), 'utf8')).toBe('module');
});

test('only the module of the same compile is written', async () => {
  const folder = temporaryDirectory();
  const kept = await keptIn(folder);
  const command = commandFor(join(folder, 'out.vmfb'));
  const fed = { ...compile, stdin: Buffer.from('module {}') };
  for (const other of [{ ...compile, argv: ['--spec', ...compile.argv] }, fed])
    expect(await deliver(other, kept, command)).toBe(false);
  await kept.note(join(folder, 'kept.vmfb'), fed);
  expect(await deliver(fed, kept, command)).toBe(true);
  expect(await deliver({ ...fed, stdin: Buffer.from('module { }') }, kept, command)).toBe(false);
  // Another module is being written there.
  await kept.note(join(folder, 'kept.vmfb'), null);
  expect(await deliver(fed, kept, command)).toBe(false);
});

test('the compiler writes to devices, and reports write errors itself', async () => {
  const folder = temporaryDirectory();
  const kept = await keptIn(folder);
  mkdirSync(join(folder, 'folder'));
  for (const path of ['/dev/null', join(folder, 'folder'), join(folder, 'missing', 'out.vmfb')])
    expect([dirname(path), await deliver(compile, kept, commandFor(path))]).toEqual([dirname(path), false]);
  const command = commandFor(join(folder, 'out.vmfb'), '--iree-hal-dump-executable-files-to=x');
  expect(await deliver(compile, kept, command)).toBe(false);
});
