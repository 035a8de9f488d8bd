// In full after a change of test/differential.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCompiler } from '../../src/system/run.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler } from '../support/real-tools.ts';
import { moduleComparison, type ModuleVerdict } from './programs.ts';

const place = temporaryDirectory();
const compareModules = await moduleComparison({ compiler, cacheDirectory: join(place, 'cache') });

let compiles = 0;
async function compile(operation: string, type = 'tensor<8xf32>'): Promise<{ file: string; module: Buffer }> {
  const file = join(place, `${compiles++}.mlir`);
  const output = `${file}.vmfb`;
  writeFileSync(
    file,
    `func.func @f(%x: ${type}, %y: ${type}) -> ${type} {\n  %z = ${operation} %x, %y : ${type}\n  return %z : ${type}\n}\n`,
  );
  const options = { env: process.env, stdin: new Uint8Array(), capture: true };
  const { code, stderr } = await runCompiler(
    compiler.executable,
    [...HOST_FLAGS, file, '-o', output],
    options,
  );
  expect([code, stderr.toString()]).toEqual([0, '']);
  return { file, module: readFileSync(output) };
}

async function compared(a: { file: string; module: Buffer }, b: Buffer): Promise<ModuleVerdict> {
  const folder = join(place, `run${compiles++}`);
  mkdirSync(folder);
  return compareModules(a.file, HOST_FLAGS, [a.module, b], folder);
}

test('programs with different results are different', async () => {
  const [sum, same, product] = [
    await compile('arith.addf'),
    await compile('arith.addf'),
    await compile('arith.mulf'),
  ];
  expect(sum.module.equals(same.module)).toBe(false);
  expect(await compared(sum, same.module)).toEqual({ equal: true, compared: 1, maxError: 0, reasons: [] });
  expect(await compared(sum, product.module)).toMatchObject({ equal: false, compared: 1 });
  expect(await compared(sum, Buffer.from('no module'))).toMatchObject({ equal: false });
});

test('a program that cannot be run gets a reason and no verdict', async () => {
  const dynamic = await compile('arith.addf', 'tensor<?xf32>');
  expect(await compared(dynamic, dynamic.module)).toMatchObject({
    equal: null,
    compared: 0,
    reasons: ['its sizes are dynamic, and --iree-tuned-dim gives none for arg0.0, arg1.0'],
  });
});
