import { describe, expect, test } from 'vitest';
import { cuda } from '../../../src/backend/cuda/index.ts';
import { deviceClass, deviceKey, storedDevice } from '../../../src/backend/device.ts';
import { readDevice } from '../../../src/backend/gpu/device.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';

/** A device in the output of IREE 3.13. */
const section = (path: string, name: string, ...fields: readonly string[]) => `# ===---===
# --device=${path}
#   ${name}
# ===---===

${fields.map((field) => `- ${field}\n`).join('')}
`;
/** For CUDA the runtime prints no name of the architecture. */
const ofCuda = (uuid: string, name: string, capability: string, units: number) =>
  section(
    `cuda://GPU-${uuid}`,
    name,
    ...[`gpu-compute-capability: ${capability}`, 'driver-max-cuda-version: 12.4'],
    ...[`gpu-multiprocessor-count: ${units}`, 'gpu-clock-rate: 1410000 kHz', 'gpu-warp-size: 32'],
  );
const CUDA =
  ofCuda('00112233-4455-6677-8899-aabbccddeeff', 'NVIDIA A100-SXM4-40GB', '8.0', 108) +
  ofCuda('11112233-4455-6677-8899-aabbccddeeff', 'NVIDIA A100-SXM4-40GB', '8.0', 108) +
  ofCuda('22112233-4455-6677-8899-aabbccddeeff', 'NVIDIA L4', '8.9', 58);
const HIP = section(
  'hip://GPU-61626364-6566-6768-696a-6b6c6d6e6f70',
  'AMD Instinct MI300X',
  ...['gpu-compute-capability: 9.4', 'gpu-arch-name: gfx942:sramecc+:xnack-'],
  ...['gpu-compute-unit-count: 304', 'gpu-warp-size: 64'],
);
const VERSION = `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024
GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)
`;
const OPEN_VERSION =
  'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build  (root@host)\n';

describe('a device of the runtime', () => {
  test('is the first of the list, or has a number or a name', () => {
    expect(readDevice(CUDA, 'cuda', VERSION)).toEqual({
      ...{ model: 'NVIDIA A100-SXM4-40GB', driver: 'cuda', threads: 1, cachesKiB: [] },
      gpu: {
        ...{ architecture: 'sm_80', version: '550.54.15 CUDA 12.4', units: 108, subgroup: 32 },
        ...{ uuid: '00112233445566778899aabbccddeeff', isSoftware: false },
      },
    });
    expect(readDevice(CUDA, 'cuda://2')?.model).toBe('NVIDIA L4');
    expect(readDevice(CUDA, 'cuda://GPU-22112233-4455-6677-8899-aabbccddeeff')?.model).toBe('NVIDIA L4');
    expect(readDevice(CUDA, 'cuda://3')).toBeNull();
  });
  test('has the architecture of its capability, or its name without features', () => {
    const ofCapability = (text: string) =>
      readDevice(ofCuda('00', 'GPU', text, 1), 'cuda')?.gpu?.architecture;
    expect(['7.5', '9.0', '12.0'].map(ofCapability)).toEqual(['sm_75', 'sm_90', 'sm_120']);
    expect(readDevice(HIP, 'hip')?.gpu).toMatchObject({ architecture: 'gfx942', units: 304, version: '' });
  });
});

describe('the key of a GPU', () => {
  const keyOf = (text: string, driver: string, nvidia = VERSION) =>
    deviceKey(readDevice(text, driver, nvidia)!);
  test('has the version of the driver that compiles PTX', () => {
    const key = 'NVIDIA A100-SXM4-40GB cuda threads=1 version=sm_80 550.54.15 CUDA 12.4 units=108';
    expect(keyOf(CUDA, 'cuda')).toBe(key);
    expect(keyOf(CUDA, 'cuda', OPEN_VERSION)).toBe(key.replace('550.54.15', '550.90.07'));
    expect(keyOf(CUDA, 'cuda', '')).toBe(key.replace('550.54.15 ', ''));
  });
  test('has no version of a driver that loads machine code', () => {
    expect(keyOf(HIP, 'hip')).toBe('AMD Instinct MI300X hip threads=1 version=gfx942 units=304');
  });
  test('changes with the number of units, as of a partition', () => {
    expect(keyOf(HIP.replace('304', '38'), 'hip')).not.toBe(keyOf(HIP, 'hip'));
  });
  test('is the same for equal GPUs, and so is the stored description', () => {
    const [first, second] = ['cuda://0', 'cuda://1'].map((driver) => readDevice(CUDA, driver, VERSION)!);
    expect(first!.gpu!.uuid).not.toBe(second!.gpu!.uuid);
    expect(deviceKey(first!)).toBe(deviceKey(second!));
    expect(storedDevice(first!)).toEqual(storedDevice(second!));
    expect(JSON.stringify(storedDevice(first!))).not.toContain('GPU-');
    expect(deviceKey(storedDevice(first!))).toBe(deviceKey(first!));
  });
});

describe('the class of a GPU', () => {
  const a100 = readDevice(CUDA, 'cuda', VERSION)!;
  test('has its architecture and units, and no driver version or name', () => {
    expect(deviceClass(a100)).toBe('v1 sm_80 cuda units=108');
    const other = { ...readDevice(CUDA, 'cuda://1', OPEN_VERSION)!, model: 'NVIDIA A100-PCIE-80GB' };
    expect(deviceClass(JSON.parse(JSON.stringify(storedDevice(other))))).toBe(deviceClass(a100));
    expect(deviceClass(readDevice(CUDA, 'cuda://2'))).toBe('v1 sm_89 cuda units=58');
  });
  test.each([
    ['no units, as on Vulkan', { units: undefined }],
    ['no architecture, as in earlier versions', { architecture: undefined }],
    ['a number of units that is text', { units: '108' }],
    ['an architecture with spaces', { architecture: 'sm_80 cuda units=1' }],
  ])('is none with %s', (_, change) => {
    expect(deviceClass({ ...a100, gpu: { ...a100.gpu, ...change } })).toBeNull();
  });
  test('is none with a GPU that is no object', () => {
    expect(deviceClass({ ...a100, gpu: 'A100' })).toBeNull();
  });
});

test('PTX runs on later GPUs, machine code on its own', async () => {
  const none = { root: '', isUnknown: false, hostTarget: () => Promise.resolve(null) };
  const target = (backend: string, cpu: string) => ({
    ...{ backend, triple: '', cpu, features: [], nativeVectorBytes: 0, flags: [] },
  });
  const [a100, l4] = ['cuda', 'cuda://2'].map((driver) => readDevice(CUDA, driver)!);
  const amd = readDevice(HIP, 'hip')!;
  expect(await cuda.devices.whyNotRunnable(target('cuda', 'sm_80'), l4!, none)).toBeNull();
  expect(await cuda.devices.whyNotRunnable(target('cuda', 'sm_89'), a100!, none)).toContain('sm_80');
  expect(await rocm.devices.whyNotRunnable(target('rocm', 'gfx942'), amd, none)).toBeNull();
  expect(await rocm.devices.whyNotRunnable(target('rocm', 'gfx950'), amd, none)).toContain('gfx942');
});
