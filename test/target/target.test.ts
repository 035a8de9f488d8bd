import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/index.ts';
import { tableOf } from '../../src/compiler/options.ts';
import { describeDevice, deviceFlags, deviceKey, type Device } from '../../src/target/device.ts';
import { candidateFlags, codegenFlags, userTuningFlag } from '../../src/target/flags.ts';
import { HOST_FLAGS, probeTargets } from '../../src/target/probe.ts';
import { readTargets, targetKey, whyNotRunnable, type Target } from '../../src/target/target.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler } from '../support/real-tools.ts';

const target: Target = {
  backend: 'llvm-cpu',
  triple: 'x86_64-unknown-unknown-eabi-elf',
  cpu: 'znver4',
  features: ['avx2', 'avx512f'],
  nativeVectorBytes: 64,
  flags: [],
};

describe('targets in printed IR', () => {
  test('are read with the last word on each feature', () => {
    const ir = `#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "znver4", cpu_features = "+avx2,+amx,-amx,+avx512f", native_vector_size = 64 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>`;
    expect(readTargets(ir + ir, [])).toEqual([target]);
  });
  test('are told apart when there are several', () => {
    const ir =
      '#hal.executable.target<"cuda", "cuda-nvptx-fb"> #hal.executable.target<"rocm", "rocm-hsaco-fb">';
    expect(readTargets(ir, []).map(({ backend }) => backend)).toEqual(['cuda', 'rocm']);
  });
});

describe('the key of a target', () => {
  test.each<[string, Partial<Target>]>([
    ['cpu', { cpu: 'znver5' }],
    ['features', { features: ['avx2'] }],
    ['triple', { triple: 'aarch64-x' }],
    ['flags', { flags: ['--iree-opt-level=O3'] }],
  ])('depends on its %s', (_, change) => {
    expect(targetKey({ ...target, ...change })).not.toBe(targetKey(target));
  });
});

describe('what this machine can run', () => {
  const host = { ...target, features: ['avx2', 'avx512f', 'fma'] };
  test.each<[string, Partial<Target>, RegExp | null]>([
    ['its own kind', {}, null],
    ['less than it has', { features: [] }, null],
    ['more than it has', { features: ['amx-tile'] }, /lacks the CPU features amx-tile/],
    ['another architecture', { triple: 'aarch64-unknown-linux' }, /cannot run/],
    ['another backend', { backend: 'cuda' }, /cuda/],
  ])('%s', (_, change, reason) => {
    const why = whyNotRunnable({ ...target, ...change }, host, 'x64');
    if (reason === null) expect(why).toBeNull();
    else expect(why).toMatch(reason);
  });
});

describe('flags', () => {
  const table = tableOf(
    [],
    ['o', 'iree-opt-level', 'iree-hal-target-device', 'iree-hal-dump-executable-sources-to'],
  );
  const read = (...argv: string[]) => readArguments(argv, table).flags;
  test('that only say where things go are part of nothing', () => {
    const flags = read('-o', 'x', '--iree-hal-dump-executable-sources-to=d', '--mlir-print-debuginfo');
    expect([candidateFlags(flags), codegenFlags(flags)]).toEqual([[], []]);
  });
  test('that choose the target are for candidates, but not in the key', () => {
    const flags = read('--iree-hal-target-device', 'local', '--iree-llvmcpu-target-cpu=host');
    expect(candidateFlags(flags)).toEqual([
      '--iree-hal-target-device=local',
      '--iree-llvmcpu-target-cpu=host',
    ]);
    expect(codegenFlags(flags)).toEqual([]);
  });
  test('that may change code are in both, known or not', () => {
    const flags = read('--iree-opt-level=O2', '--iree-brand-new');
    expect(codegenFlags(flags)).toEqual(['--iree-opt-level=O2', '--iree-brand-new']);
    expect(candidateFlags(flags)).toEqual(codegenFlags(flags));
  });
  test('with which the user tunes are recognised', () => {
    expect(userTuningFlag(read('--iree-opt-level=O2'))).toBeNull();
    expect(userTuningFlag(read('--iree-codegen-tuning-spec-path=x'))).toBe('--iree-codegen-tuning-spec-path');
  });
});

describe('asking the real compiler', () => {
  test('expands host to this CPU, and remembers it', async () => {
    const folder = temporaryDirectory();
    const ask = () => probeTargets(compiler.executable, HOST_FLAGS, [], 'cpu', folder);
    const first = await ask();
    expect(first.targets).toHaveLength(1);
    const { target: found } = first.targets[0]!;
    expect(found.backend).toBe('llvm-cpu');
    expect(found.cpu).not.toBe('host');
    expect(whyNotRunnable(found, found, process.arch)).toBeNull();
    expect([16, 32, 64]).toContain(found.nativeVectorBytes);
    expect(await ask()).toEqual(first);
  });
  test('names the problem when flags lead to no target', async () => {
    const none = await probeTargets(compiler.executable, [], [], 'cpu', temporaryDirectory());
    expect(none).toMatchObject({ targets: [], problem: expect.stringMatching(/./) as string });
  });
});

describe('the device', () => {
  const device: Device = { model: 'X', driver: 'local-task', threads: 4, cachesKiB: [32, 1024] };
  test('has a readable key', () => {
    expect(deviceKey(device)).toBe('X local-task threads=4 caches=32/1024K');
  });
  test('is one thread on local-sync', () => {
    expect(describeDevice('local-sync').threads).toBe(1);
    expect(deviceFlags({ ...device, driver: 'local-sync' })).toEqual(['--device=local-sync']);
  });
  test('tells the runtime how many threads it is', () => {
    expect(deviceFlags(device)).toEqual(['--device=local-task', '--task_topology_max_group_count=4']);
  });
});
