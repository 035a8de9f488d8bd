import { describe, expect, test } from 'vitest';
import { deviceClass, deviceKey, type Device, type Processor } from '../../src/backend/device.ts';
import { deviceFlags } from '../../src/backend/index.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';

const device: Device = { model: 'X', driver: 'local-task', threads: 4, cachesKiB: [32, 1024] };

describe('the device', () => {
  test('has a readable key', () => {
    expect(deviceKey(device)).toBe('X local-task threads=4 caches=32/1024K');
  });
  test('has the same key as before later fields', () => {
    expect(deviceKey(zen4())).toBe('AMD EPYC (25/17/1) local-task threads=8 caches=32/1024/32768K');
  });
  test('is one thread on local-sync', () => {
    expect(describeDevice('local-sync').threads).toBe(1);
    expect(deviceFlags({ ...device, driver: 'local-sync' })).toEqual(['--device=local-sync']);
  });
  test('tells the runtime its number of threads', () => {
    expect(deviceFlags(device)).toEqual(['--device=local-task', '--task_topology_max_group_count=4']);
  });
});

const cache = (level: number, sizeKiB: number, threads: number) => ({ level, sizeKiB, threads });

function zen4(change: Partial<Device> = {}, processor: Partial<Processor> = {}): Device {
  return {
    model: 'AMD EPYC (25/17/1)',
    driver: 'local-task',
    threads: 8,
    cachesKiB: [32, 1024, 32768],
    processor: {
      architecture: 'x64',
      vendor: 'AuthenticAMD',
      family: 25,
      model: 17,
      threadsPerCore: 2,
      caches: [cache(1, 32, 2), cache(2, 1024, 2), cache(3, 32768, 16)],
      ...processor,
    },
    ...change,
  };
}

const CLASS = 'v1 x64 AuthenticAMD family=25 model=17 local-task threads=8 caches=32/1024K';

describe('the class of a device', () => {
  test('is readable, and follows from the stored description', () => {
    expect(deviceClass(zen4())).toBe(CLASS);
    expect(deviceClass(JSON.parse(JSON.stringify(zen4())))).toBe(CLASS);
  });
  test('is the same for other steppings, other names, and a smaller last level', () => {
    expect(deviceClass(zen4({ model: 'AMD EPYC 9354P (25/17/2)', cachesKiB: [32, 1024, 16384] }))).toBe(
      CLASS,
    );
    const halved = [cache(1, 32, 2), cache(2, 1024, 2), cache(3, 16384, 8)];
    expect(deviceClass(zen4({}, { caches: halved }))).toBe(CLASS);
  });
  test.each<[string, Partial<Device>, Partial<Processor>]>([
    ['driver', { driver: 'local-sync', threads: 1 }, {}],
    ['number of threads', { threads: 4 }, {}],
    ['model', {}, { model: 1 }],
    ['family', {}, { family: 26 }],
    ['vendor', {}, { vendor: 'GenuineIntel' }],
    ['instruction set', {}, { architecture: 'arm64' }],
    ["size of a core's own caches", {}, { caches: [cache(1, 48, 2), cache(2, 1024, 2)] }],
  ])('is not that of another %s', (_, change, processor) => {
    const other = deviceClass(zen4(change, processor));
    expect(other).toMatch(/^v1 /);
    expect(other).not.toBe(CLASS);
  });
  test('ignores a shared second level, and a last level that seems to belong to one core', () => {
    const shared = deviceClass(zen4({}, { caches: [cache(1, 32, 2), cache(2, 2048, 8)] }));
    expect(shared).toMatch(/ caches=32K$/);
    const alone = zen4(
      {},
      { threadsPerCore: 1, caches: [cache(1, 32, 1), cache(2, 1024, 1), cache(3, 32768, 1)] },
    );
    expect(deviceClass(alone)).toBe(CLASS);
  });
  test('has no caches if the system reports none', () => {
    expect(deviceClass(zen4({}, { caches: [] }))).toBe(CLASS.replace(/ caches=.*/, ''));
  });
  test('is none for an incomplete description, as of earlier versions', () => {
    expect(deviceClass(device)).toBeNull();
    expect(deviceClass(zen4({ processor: undefined }))).toBeNull();
  });
  test.each<[string, unknown]>([
    ['nothing', null],
    ['a list', []],
    ['no threads', { ...zen4(), threads: 0 }],
    ['a driver that could be taken for more', { ...zen4(), driver: 'local-task threads=64' }],
    ['a vendor with an escape sequence', zen4({}, { vendor: '\u001b[2J' })],
    ['a model that is no number', zen4({}, { model: NaN })],
    ['a cache of no size', zen4({}, { caches: [cache(1, -1, 1)] })],
    ['a thousand caches', zen4({}, { caches: Array.from({ length: 1000 }, () => cache(1, 1, 1)) })],
    ['caches that are none', { ...zen4(), processor: { ...zen4().processor, caches: [null] } }],
  ])('is none of %s, whoever has written that', (_, form) => {
    expect(deviceClass(form)).toBeNull();
  });
  test.runIf(process.platform === 'linux' && process.arch === 'x64')('exists for this machine', () => {
    const here = describeDevice('local-sync');
    expect(deviceClass(here)).toMatch(/^v1 x64 \w+ family=\d+ model=\d+ local-sync threads=1/);
    // The stored description gives the same class.
    expect(deviceClass(JSON.parse(JSON.stringify(here)))).toBe(deviceClass(here));
  });
});
