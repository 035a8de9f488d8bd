import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { configuredSource, configuredWith, splitProgram } from '../../src/inject/split-program.ts';
import { matmul } from '../support/workloads.ts';

const configuration: TileConfiguration = {
  ...{ version: 1, kind: 'tile', distribution: [4, 8, 0] },
  ...{ vectorCommonParallel: [4, 8, 0], vectorReduction: [0, 0, 2], peeling: false },
};
const operation = `        %r = linalg.matmul ins(%x, %y : tensor<4x2xf32>, tensor<2x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>\n`;
const executable = (operations: string, name = 'f$async_dispatch_0') =>
  Buffer.from(`hal.executable public @${name} {
  hal.executable.variant public @embedded_elf_x86_64 target(<"llvm-cpu", "embedded-elf-x86_64">) {
    builtin.module {
      func.func @f_matmul() {
${operations}        return
      }
    }
  }
}
`);
const own = { workload: matmul(4, 8, 2), configuration };
const RELEASE = [3, 13, 0] as const;

test('the root of an executable gets a configuration', () => {
  const source = configuredSource(executable(operation), own, RELEASE);
  const [found] = parse(source!).operations;
  expect(found?.attributes.map(({ name }) => name)).toEqual(['compilation_info']);
});

test.each([
  ['two roots', operation + operation.replace('%r', '%s'), own],
  ['none', '', own],
  ['one of other sizes', operation, { ...own, workload: matmul(8, 4, 2) }],
])('an executable with %s is left alone', (_, operations, configured) => {
  expect(configuredSource(executable(operations), configured, RELEASE)).toBeNull();
});

test('the files of a round are told by their executables', () => {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  const sources = new Map([['f$async_dispatch_0', executable(operation)]]);
  const program = { path: 'flow.mlirbc', sources };
  const wanted = ['f$async_dispatch_0', 'f$async_dispatch_9'].map((one) => ({ ...own, executable: one }));
  const { flags, files } = configuredWith(program, wanted, RELEASE, folder);
  const [[path, name] = ['', '']] = [...files];
  expect([files.size, name]).toEqual([1, 'f$async_dispatch_0']);
  expect(flags).toEqual([`--iree-hal-substitute-executable-source=${name}=${path}`]);
  expect(readFileSync(path, 'utf8')).toContain('compilation_info');
});

test('a program that is not split says what the compiler said', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  const whole = (flags: readonly string[]) => {
    writeFileSync(flags.at(-1)!, '');
    return Promise.resolve(null);
  };
  const resumed = () => Promise.resolve('error: no such phase');
  await expect(splitProgram({ whole, resumed }, folder)).resolves.toBe('error: no such phase');
  const broken = { whole: () => Promise.resolve('error: no such flag'), resumed };
  await expect(splitProgram(broken, mkdtempSync(join(tmpdir(), 'split-')))).resolves.toBe(
    'error: no such flag',
  );
});
