import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { deviceKey, isDevice } from '../../../src/backend/device.ts';
import { deviceFlags, loadBackend } from '../../../src/backend/index.ts';
import { readTargets } from '../../../src/site/read-targets.ts';
import {
  describeDevice,
  driverFiles,
  readDevice,
  whyNotRunnable,
} from '../../../src/backend/vulkan/device.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { LLVMPIPE } from '../../support/vulkan-target.ts';

beforeAll(() => loadBackend('vulkan-spirv'));

const section = (uuid: string, name: string, type: string, subgroup: number) => `# ===---===
# --device=vulkan://GPU-${uuid}
#   ${name}
# ===---===
name: ${name}
type: ${type}
driver: radv
driver_info: Mesa 25.2.1
subgroup: size=${subgroup} operations=0x000000bf minSubgroupSize=8
`;
const LISTED =
  section('aa', 'llvmpipe (LLVM 15.0.6, 256 bits)', 'cpu', 8) +
  section('bb', 'AMD Radeon RX 7900', 'discrete', 64);

describe('a device of the runtime', () => {
  test('is the first device by default, or the named device', () => {
    const models = ['vulkan', 'vulkan://1', 'vulkan://GPU-bb', 'vulkan://2'].map(
      (driver) => readDevice(LISTED, driver)?.model,
    );
    expect(models[0]).toMatch(/^llvmpipe \(LLVM 15\.0\.6, 256 bits\) on \S/);
    expect(models.slice(1)).toEqual(['AMD Radeon RX 7900', 'AMD Radeon RX 7900', undefined]);
  });
  test('has another key with another driver', () => {
    const [gpu, newer] = [LISTED, LISTED.replaceAll('25.2.1', '25.2.2')].map((text) =>
      readDevice(text, 'vulkan://1')!,
    );
    expect(deviceKey(gpu!)).toBe('AMD Radeon RX 7900 vulkan threads=1 version=radv Mesa 25.2.1');
    expect(deviceKey(newer!)).not.toBe(deviceKey(gpu!));
    expect(isDevice(gpu)).toBe(true);
    expect(gpu!.gpu!.uuid).toBe('bb');
    expect(deviceFlags(gpu!)).toEqual(['--device=vulkan://1']);
  });
  test('runs only code for its own subgroup size', async () => {
    const ir = `#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {iree_codegen.target_info = ${LLVMPIPE.gpu!}}>`;
    const [target] = readTargets(Buffer.from(ir), []);
    expect(target!.gpu).toBe(LLVMPIPE.gpu);
    const why = (driver: string) => whyNotRunnable(target!, readDevice(LISTED, driver)!);
    expect(await why('vulkan://0')).toBeNull();
    expect(await why('vulkan://1')).toBe(
      'code for llvmpipe has subgroups of 8 threads, and AMD Radeon RX 7900 of 64',
    );
  });
});

test('there is a reason for a missing runtime', async () => {
  const question = {
    ...{ runModule: () => null, cacheDirectory: temporaryDirectory(), env: {} },
    root: '',
  };
  expect(await describeDevice('vulkan', question)).toMatch(/^iree-run-module, .* is not found/);
});

test('the files of a driver are its manifest and its library', () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'icd.d'));
  const manifest = join(folder, 'icd.d', 'lvp.json');
  writeFileSync(manifest, JSON.stringify({ ICD: { library_path: '/usr/lib/libvulkan_lvp.so' } }));
  expect(driverFiles({ env: { VK_DRIVER_FILES: manifest } })).toEqual([
    manifest,
    '/usr/lib/libvulkan_lvp.so',
  ]);
});
