import { describe, expect, test } from 'vitest';
import { availableParallelism } from 'node:os';
import { numbersIn, physicalCores } from '../../src/system/processor.ts';
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
