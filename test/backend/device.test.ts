import { describe, expect, test } from 'vitest';
import { deviceKey, type Device } from '../../src/backend/device.ts';
import { describeDevice, deviceFlags } from '../../src/backend/index.ts';

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
