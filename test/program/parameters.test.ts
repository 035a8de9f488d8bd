// The real runtime reads the random parameters.
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { Parameter } from '../../src/input/parameters.ts';
import { isWritable, parameterBytes, writeParameters } from '../../src/program/parameters.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/real-tools.ts';
import { compile } from './support.ts';

const parameter = (scope: string | null, key: string, elementType: string, shape = [3, 4]): Parameter => ({
  ...{ scope, key, shape, elementType },
});

test('the runtime loads small, varied parameters of all scopes', async () => {
  const folder = temporaryDirectory();
  const all = [
    parameter('model', 'w/0', 'f32'),
    parameter('model', 'w.1', 'bf16', [5]),
    parameter('other', 'w/0', 'i8', [3, 4]),
    parameter('other', 'odd', 'f16', [3]),
  ];
  expect(all.every(isWritable)).toBe(true);
  expect(parameterBytes(all)).toBe(48 + 10 + 12 + 6);
  const flags = await writeParameters(all, folder);
  expect(flags).toHaveLength(2);
  const globals = all.map(({ scope, key, shape, elementType }, i) => {
    const type = `tensor<${[...shape, elementType].join('x')}>`;
    return {
      type,
      text: `util.global private @p${i} = #flow.parameter.named<"${scope!}"::"${key}"> : ${type}`,
    };
  });
  const loads = globals.map(({ type }, i) => `  %${i} = util.global.load @p${i} : ${type}`);
  const types = globals.map(({ type }) => type).join(', ');
  const program = `${globals.map(({ text }) => text).join('\n')}
func.func @main() -> (${types}) {
${loads.join('\n')}
  return ${globals.map((_, i) => `%${i}`).join(', ')} : ${types}
}`;
  const module = await compile(program, folder, 'program');
  const { stdout } = await execa(runtimeTool('iree-run-module'), [
    `--module=${module}`,
    '--device=local-sync',
    '--function=main',
    ...flags,
  ]);
  const values = [...stdout.matchAll(/^([\dx]+x\w+)=(.*)$/gm)].map(([, type, text]) => ({
    type,
    values: text!
      .split(/[[\]\s]+/)
      .filter((word) => word !== '')
      .map(Number),
  }));
  expect(values.map(({ type }) => type)).toEqual(['3x4xf32', '5xbf16', '3x4xi8', '3xf16']);
  for (const { type, values: own } of values) {
    expect(own.every((value) => Math.abs(value) <= (type!.endsWith('i8') ? 8 : 1 / 16))).toBe(true);
    if (type!.startsWith('3x4')) expect(new Set(own).size).toBeGreaterThan(2);
  }
});

test('a type without a name in the safetensors format is not writable', () => {
  expect(isWritable(parameter('model', 'w', 'i4'))).toBe(false);
});
