import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deviceClass, deviceKey, isDevice } from '../../src/backend/device.ts';
import { deviceFlags } from '../../src/backend/index.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { cpuQuota } from '../../src/system/cpu-quota.ts';
import { temporaryDirectory } from '../support/folders.ts';

/** A root folder with these files. */
function rootWith(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

/** Files of a process in a group of version 2, with the quotas of groups. */
const version2 = (group: string, quotas: Readonly<Record<string, string>>) =>
  Object.fromEntries([
    ['proc/self/cgroup', `0::${group}`],
    ...Object.entries(quotas).map(([at, quota]) => [`sys/fs/cgroup${at}/cpu.max`, quota]),
  ]) as Record<string, string>;

/** Files of a process in a group of version 1 below a mount, with its quota and period. */
const version1 = (mount: string, quota: string, more = '') => ({
  'proc/self/cgroup': `12:cpuset:/\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc${more}`,
  [`sys/fs/cgroup/${mount}/cpu.cfs_quota_us`]: quota,
  [`sys/fs/cgroup/${mount}/cpu.cfs_period_us`]: '100000',
});

describe('the CPU quota', () => {
  test.each<[string, Readonly<Record<string, string>>, number | null]>([
    ['no files, as on macOS', {}, null],
    ['no quota', version2('/user.slice/a.scope', { '/user.slice/a.scope': 'max 100000' }), null],
    ["a container's own group", version2('/', { '': '150000 100000' }), 1.5],
    [
      'a group above that allows less',
      version2('/pods/pod1/main', {
        '/pods/pod1/main': '400000 100000',
        '/pods/pod1': '50000 25000',
        '/pods': 'max 100000',
      }),
      2,
    ],
    [
      'a path of the host, seen in a container',
      version2('/system.slice/docker-abc.scope', { '': '200000 100000' }),
      2,
    ],
    ['a path outside the container', version2('/../../other', { '': '200000 100000' }), 2],
    ['version 1', version1('cpu/docker/abc', '50000'), 0.5],
    ['version 1 in a container, which has its own group at the root', version1('cpu,cpuacct', '300000'), 3],
    ['version 1 without a quota', version1('cpu/docker/abc', '-1', '\n0::/'), null],
    ['a damaged file', version2('/', { '': '' }), null],
  ])('with %s', (_, files, quota) => {
    expect(cpuQuota(rootWith(files))).toBe(quota);
  });
});

describe('a device under a CPU quota', () => {
  const key = (driver: string, quota: number | null) => deviceKey(describeDevice(driver, '', quota, 4));
  const free = key('local-task', null);

  test('is the free machine if the quota lets all its threads run', () => {
    expect(free).toContain('local-task threads=4 ');
    for (const quota of [4, 4.5, 64]) expect(key('local-task', quota)).toBe(free);
    for (const quota of [1, 2]) expect(key('local-sync', quota)).toBe(key('local-sync', null));
  });

  test('has fewer threads, none of which is stopped', () => {
    expect(key('local-task', 2.5)).toBe(free.replace('threads=4', 'threads=2'));
    const device = describeDevice('local-task', '', 2.5, 4);
    expect(deviceFlags(device)).toContain('--task_topology_max_group_count=2');
    expect(device).not.toHaveProperty('quota');
  });

  test('below one CPU is a device and a class of its own', () => {
    expect(key('local-task', 0.5)).toBe(free.replace('threads=4', 'threads=1 quota=0.5'));
    expect(key('local-sync', 0.5)).not.toBe(key('local-sync', null));
    expect(key('local-sync', 1 / 3)).toContain(' quota=0.33');
    const half = describeDevice('local-sync', '', 0.5);
    const stored: unknown = JSON.parse(JSON.stringify(half));
    expect(isDevice(stored)).toBe(true);
    const whole = deviceClass(describeDevice('local-sync', '', null));
    expect(deviceClass(stored)).toBe(whole?.replace('threads=1', 'threads=1 quota=0.5') ?? null);
  });

  test.each(['0.5', -1, 0, NaN, 2])('is invalid with the quota %j for one thread', (quota) => {
    expect(isDevice({ ...describeDevice('local-sync', '', null), quota })).toBe(false);
  });
});
