import { parse } from 'mlir-parser-ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadBackend } from '../../src/backend/index.ts';
import { configuredExecutable } from '../../src/inject/executable-sources.ts';
import type { Entry } from '../../src/inject/plan.ts';
import { editedExecutable } from '../../src/inject/substitute.ts';
import { substituteFlag, withoutNotes } from '../../src/inject/injection-flags.ts';
import { tiles } from '../support/backend.ts';
import { executable, operation } from './executables.ts';
import { matmul } from '../support/workloads.ts';

const tile = tiles([4, 8, 0], [4, 8, 0], [0, 0, 2]);
const entry = { workload: matmul(4, 8, 2), loops: [0, 1, 2], configuration: tile, executables: [] };
test('an executable with the operation gets the configuration, and keeps its name', () => {
  const edited = editedExecutable(executable(operation()), [entry], [3, 13, 0]);
  expect(edited?.name).toBe('f$async_dispatch_0');
  const [found] = parse(edited!.text).operations;
  expect(found?.attributes.map(({ name }) => name)).toEqual(['compilation_info']);
});

test.each([
  ['another shape', operation().replaceAll('x8x', 'x9x')],
  ['a configuration of the user', operation('{compilation_info = #a.b<c>}')],
  ['two operations that match', operation() + operation().replace('%r', '%s')],
  ['nothing', ''],
])('an executable with %s is left alone', (_, operations) => {
  expect(editedExecutable(executable(operations), [entry], [3, 13, 0])).toBeNull();
});

describe('an executable for two targets', () => {
  const both = executable(operation(), ['llvm-cpu', 'vulkan-spirv']);
  const forCpu = { ...entry, target: 'llvm-cpu' };
  const forGpu: Entry = {
    ...{ ...entry, target: 'vulkan-spirv' },
    configuration: {
      ...{ version: 1, kind: 'spirv-tile', workgroup: [4, 8, 0], thread: [1, 4, 0], reduction: [0, 0, 2] },
    },
  };
  /** Attributes of the operation in each variant, as text. */
  const attributesIn = (text: Uint8Array) =>
    parse(text).operations.map(({ attributes }) =>
      attributes.map(({ start, end }) => Buffer.from(text.subarray(start, end)).toString()).join(),
    );
  beforeAll(() => loadBackend('vulkan-spirv'));

  test('gets the configuration of each target in the variant of the target', () => {
    const { text } = editedExecutable(both, [forGpu, forCpu], [3, 13, 0])!;
    expect(attributesIn(text)).toEqual([
      expect.stringContaining('#iree_cpu.'),
      expect.stringContaining('#iree_gpu.'),
    ]);
    const attribute = / \{compilation_info = .*?\} {2}ins/g;
    expect(Buffer.from(text).toString().replaceAll(attribute, '  ins')).toBe(both.toString());
  });
  test('keeps the variant of a target without a configuration', () => {
    const { text } = editedExecutable(both, [forGpu], [3, 13, 0])!;
    expect(attributesIn(text)).toEqual(['', expect.stringContaining('#iree_gpu.')]);
    expect(editedExecutable(both, [{ ...forGpu, target: 'cuda' }], [3, 13, 0])).toBeNull();
  });
  test('gets the configurations of dispatches in the same way', () => {
    const texts = { sources: new Map([['f', both]]), configured: new Map() };
    const first = configuredExecutable(texts, 'f', forCpu, [3, 13, 0])!;
    expect(attributesIn(first.text)).toEqual([expect.stringContaining('#iree_cpu.'), '']);
    const second = editedExecutable(first.text, [{ ...forCpu }, forGpu], [3, 13, 0])!;
    expect(attributesIn(second.text)).toEqual([
      expect.stringContaining('#iree_cpu.'),
      expect.stringContaining('#iree_gpu.'),
    ]);
  });
});

test("only the notes about this program's substitutes are removed from the compiler's messages", () => {
  const note = (path: string) => `NOTE: hal.executable \`f\` substituted with MLIR source at \`${path}\`\n`;
  // From a module in which the compiler evaluates constants.
  const missing = (name: string) =>
    `WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable \`${name}\` was not found in the module\n`;
  const messages = `${missing('f')}a.mlir:1:1: warning: x\n${note('/c/ours.mlir')}${missing('g')}${note('/their.mlir')}NOTE: more\n`;
  expect(withoutNotes(messages, [{ name: 'f', path: '/c/ours.mlir', phase: 'source' }])).toBe(
    `a.mlir:1:1: warning: x\n${missing('g')}${note('/their.mlir')}NOTE: more\n`,
  );
  expect(substituteFlag({ name: 'f', path: '/c/ours.mlir', phase: 'source' })).toBe(
    '--iree-hal-substitute-executable-source=f=/c/ours.mlir',
  );
});
