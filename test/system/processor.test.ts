import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cpuModel, numbersIn, physicalCores } from '../../src/system/processor.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { describedTopology } from '../support/topology.ts';

const x86 = (model: string | number) => `processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: ${model}
model name\t: Intel(R) Xeon(R) Platinum 8480+
stepping\t: 8
`;
const arm = (...parts: string[]) =>
  parts
    .map(
      (part, i) => `processor\t: ${i}
BogoMIPS\t: 50.00
Features\t: fp asimd
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: ${part}
CPU revision\t: 1
`,
    )
    .join('\n');

describe("a processor's model", () => {
  test('is vendor, family and model on x86', () => {
    expect(numbersIn(x86(143))).toEqual({ vendor: 'GenuineIntel', family: 6, model: 143 });
  });
  test('is implementer, architecture and part on ARM, without variant and revision', () => {
    expect(numbersIn(arm('0xd40', '0xd40'))).toEqual({ vendor: '0x41', family: 8, model: 0xd40 });
  });
  test('is null for cores of several models', () => {
    expect(numbersIn(arm('0xd05', '0xd0a'))).toBeNull();
  });
  test.each([
    ['nothing', ''],
    ['a RISC-V', 'processor\t: 0\nhart\t: 2\nisa\t: rv64imafdc\nmmu\t: sv39\nuarch\t: sifive,u74-mc\n'],
    ['an IBM Z', 'vendor_id       : IBM/S390\n# processors    : 4\n'],
    ['a text that says nothing in its place', x86('unknown')],
  ])('is null for %s', (_, text) => {
    expect(numbersIn(text)).toBeNull();
  });
});

test.each([
  ['x86', 'x86_64', x86(143), 'Intel(R) Xeon(R) Platinum 8480+ (6/143/8)'],
  ['ARM', 'aarch64', arm('0xd0c'), 'arm64 (0x41/0xd0c/0x3)'],
  [
    'RISC-V',
    'riscv64',
    'processor\t: 0\nisa\t: rv64imafdcv\nuarch\t: spacemit,x60\nmvendorid\t: 0x710\nmarchid\t: 0x8000000058000001\nmimpid\t: 0x1\n',
    'spacemit,x60 (0x710/0x8000000058000001/0x1)',
  ],
])('the name of a CPU tells models of %s apart', (_, machine, text, expected) => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'proc'));
  writeFileSync(join(root, 'machine'), `${machine}\n`);
  writeFileSync(join(root, 'proc/cpuinfo'), text);
  expect(cpuModel(root)).toBe(expected);
});

describe('cores with a worker of the runtime', () => {
  const workstation = describedTopology({ nodes: 1, cores: 16, perCore: 2 });
  const server = describedTopology({ nodes: 2, cores: 4, perCore: 2 });
  const from = (first: number, count: number) => new Set(Array.from({ length: count }, (_, i) => first + i));

  test('are all cores of a machine with one node', () => {
    expect(physicalCores(workstation, 2, from(0, 32))).toBe(16);
    // Linux may allow threads that do not exist.
    expect(physicalCores(workstation, 2, from(0, 128))).toBe(16);
    expect(physicalCores('/nowhere', 1, from(0, 128))).toBe(availableParallelism());
    expect(physicalCores('/nowhere', 2, null)).toBe(Math.ceil(availableParallelism() / 2));
  });

  test('are the cores of one of several nodes', () => {
    expect(physicalCores(server, 2, from(0, 16))).toBe(4);
  });

  test('are cores with at least one allowed thread', () => {
    expect(physicalCores(workstation, 2, from(0, 8))).toBe(8);
    expect(physicalCores(workstation, 2, new Set([0, 16, 1, 17]))).toBe(2);
    expect(physicalCores(server, 2, new Set([4, 5, 12]))).toBe(2);
  });
});
