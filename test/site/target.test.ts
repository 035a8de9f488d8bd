import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HOST_FLAGS, probeTargets } from '../../src/site/probe.ts';
import { readTargets } from '../../src/site/read-targets.ts';
import { whyNotRunnable } from '../../src/backend/llvm-cpu/cpu.ts';
import { targetKey, type Target } from '../../src/backend/target.ts';
import { realCompiler } from '../compiler/support.ts';
import { temporaryDirectory } from '../support/folders.ts';

const target: Target = {
  backend: 'llvm-cpu',
  triple: 'x86_64-unknown-unknown-eabi-elf',
  cpu: 'znver4',
  features: ['avx2', 'avx512f'],
  nativeVectorBytes: 64,
  flags: [],
};

describe('targets in printed IR', () => {
  test('are read, and the last mention of a feature wins', () => {
    const ir = `#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "znver4", cpu_features = "+avx2,+amx,-amx,+avx512f", native_vector_size = 64 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>`;
    expect(readTargets(Buffer.from(ir + ir), [])).toEqual([target]);
  });
  test('are listed separately', () => {
    const ir =
      '#hal.executable.target<"cuda", "cuda-nvptx-fb"> #hal.executable.target<"rocm", "rocm-hsaco-fb">';
    expect(readTargets(Buffer.from(ir), []).map(({ backend }) => backend)).toEqual(['cuda', 'rocm']);
  });
  test('are read with any dictionary', () => {
    const ir = (last: string) =>
      `#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {a = {cpu = "x", b = "}>"}, cpu = "znver4", cpu_features = "+avx2,+avx512f", native_vector_size = ${last} : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>`;
    expect(readTargets(Buffer.from(ir('64') + ir('32')), [])).toEqual([
      target,
      { ...target, nativeVectorBytes: 32 },
    ]);
  });
  test('are those of the device that dispatches run on by default', () => {
    const device = (name: string, backend: string) =>
      `  util.global private @${name} = #hal.device.target<"x", [#hal.executable.target<"${backend}", "x">]> : !hal.device\n`;
    const ir = (byDefault: string) =>
      `module attributes {stream.affinity.default = #hal.device.affinity<${byDefault}>} {\n${device('gpu', 'cuda')}${device('"my cpu"', 'vmvx')}}`;
    const backends = (byDefault: string) =>
      readTargets(Buffer.from(ir(byDefault)), []).map(({ backend }) => backend);
    expect(backends('@gpu')).toEqual(['cuda']);
    expect(backends('@"my cpu"')).toEqual(['vmvx']);
    expect(backends('@gone')).toEqual(['cuda', 'vmvx']);
  });
  test('are read through aliases, and once', () => {
    const ir = `#features = "+avx2,+avx512f"
#target = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "znver4", cpu_features = #features, native_vector_size = 64 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>
module attributes {a = [#target, #target]} {} // #hal.executable.target<"vmvx", "x">`;
    expect(readTargets(Buffer.from(ir), [])).toEqual([target]);
  });
});

describe('the key of a target', () => {
  test.each<[string, Partial<Target>]>([
    ['cpu', { cpu: 'znver5' }],
    ['features', { features: ['avx2'] }],
    ['triple', { triple: 'aarch64-x' }],
    ['flags', { flags: ['--iree-opt-level=O3'] }],
    ['GPU', { gpu: '#iree_gpu.target<arch = "sm_80">' }],
  ])('depends on its %s', (_, change) => {
    expect(targetKey({ ...target, ...change })).not.toBe(targetKey(target));
  });
});

const device = { model: 'a CPU', driver: 'local-task', threads: 1, cachesKiB: [] };
const machineOf = (host: Target) => ({ root: '', isUnknown: false, hostTarget: () => Promise.resolve(host) });

describe('this machine can run', () => {
  const host = { ...target, features: ['avx2', 'avx512f', 'fma'] };
  const triple = `${process.arch === 'x64' ? 'x86_64' : process.arch}-unknown-unknown-eabi-elf`;
  test.each<[string, Partial<Target>, RegExp]>([
    ['its own kind', {}, /^it can$/],
    ['less than it has', { features: [] }, /^it can$/],
    ['more than it has', { features: ['amx-tile'] }, /lacks the CPU features amx-tile/],
    ['another architecture', { triple: 'riscv64-unknown-linux' }, /cannot run/],
  ])('%s', async (_, change, reason) => {
    expect(
      (await whyNotRunnable({ ...target, triple, ...change }, device, machineOf(host))) ?? 'it can',
    ).toMatch(reason);
  });
});

describe('asking the real compiler', { tags: ['compiler'] }, () => {
  test('expands host to this CPU, and caches the result', async () => {
    const folder = temporaryDirectory();
    const ask = () => probeTargets(realCompiler!.executable, HOST_FLAGS, [], 'cpu', folder);
    const first = await ask();
    expect(first.targets).toHaveLength(1);
    const { target: found } = first.targets[0]!;
    expect(found.backend).toBe('llvm-cpu');
    expect(found.cpu).not.toBe('host');
    expect(await whyNotRunnable(found, device, machineOf(found))).toBeNull();
    expect([16, 32, 64]).toContain(found.nativeVectorBytes);
    expect(await ask()).toEqual(first);
  });
  test.each([
    ['cuda', ['--iree-cuda-target=sm_80'], { backend: 'cuda', cpu: 'sm_80', features: ['ptx76'] }],
    ['hip', ['--iree-rocm-target=gfx942'], { backend: 'rocm', cpu: 'gfx942', features: [] }],
    ['vulkan', [], { backend: 'vulkan-spirv', triple: 'vulkan-spirv-fb', cpu: 'vp_android_baseline_2022' }],
    ['metal', [], { backend: 'metal-spirv', triple: 'metal-msl-fb', cpu: 'apple' }],
  ])('has the GPU on %s', async (device, flags, expected) => {
    const all = [`--iree-hal-target-device=${device}`, ...flags];
    const { targets } = await probeTargets(realCompiler!.executable, all, [], 'cpu', temporaryDirectory());
    expect(targets.map(({ target: found }) => found)).toMatchObject([expected]);
  });
  test('names the problem of flags without a target', async () => {
    const ask = (flags: readonly string[]) =>
      probeTargets(realCompiler!.executable, flags, [], 'cpu', temporaryDirectory());
    expect(await ask([])).toEqual({ targets: [], problem: 'no target device in the flags' });
    expect(await ask(['--iree-hal-target-device=nowhere'])).toEqual({
      targets: [],
      problem: expect.stringContaining('error: unregistered device alias "nowhere"') as string,
    });
  });
});

describe('the machine of a runner can run', () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'proc'));
  writeFileSync(join(folder, 'machine'), 'aarch64\n');
  writeFileSync(
    join(folder, 'proc/cpuinfo'),
    'processor\t: 0\nFeatures\t: fp asimd asimddp i8mm svebitperm\n',
  );
  const there = (isUnknown = false) => ({
    ...{ root: folder, isUnknown },
    hostTarget: () => Promise.reject(new Error('asked about this machine')),
  });
  const arm = { ...target, triple: 'aarch64-linux-gnu', features: ['neon', 'dotprod', 'sve-bitperm'] };

  test.each<[string, Partial<Target>, RegExp]>([
    ['what it has by another name', {}, /^it can$/],
    ['more than it has', { features: ['dotprod', 'sve'] }, /runner lacks the CPU features sve$/],
    ['another architecture', { triple: 'x86_64-linux-gnu' }, /runner is arm64 and cannot run x86_64/],
  ])('%s', async (_, change, reason) => {
    expect((await whyNotRunnable({ ...arm, ...change }, device, there())) ?? 'it can').toMatch(reason);
  });

  test('anything, as far as is known, if it does not describe itself', async () => {
    expect(await whyNotRunnable({ ...arm, triple: 'riscv64-linux' }, device, there(true))).toBeNull();
  });
});
