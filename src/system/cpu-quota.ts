// The CPU quotas of containers. Linux stops all threads of a control group for the rest of a period once they have used its quota up.
import { textIn } from './files.ts';

/**
 * Number of CPUs that this process may keep busy: the least quota of its control group and the groups above; null without one.
 * @param root folder of `proc` and `sys`
 */
export function cpuQuota(root = ''): number | null {
  let least = Infinity;
  // Without regular expressions, whose first use would take longer than the rest: a hit calls this.
  for (const line of textIn(`${root}/proc/self/cgroup`).split('\n')) {
    const [, controllers, ...path] = line.split(':');
    const isVersion2 = controllers === '';
    if (!isVersion2 && controllers?.split(',').includes('cpu') !== true) continue;
    const quotaIn = isVersion2 ? quotaOfVersion2 : quotaOfVersion1;
    const mounts = isVersion2 || controllers === 'cpu' ? [controllers] : ['cpu', controllers];
    for (const mount of mounts)
      for (const folder of foldersUpFrom(path.join(':')))
        least = Math.min(least, quotaIn(`${root}/sys/fs/cgroup/${mount}${folder}`));
  }
  return least === Infinity ? null : least;
}

/**
 * A path and its parents, up to `/`, which is empty. A container may see its own group as `/`, and a group outside of it as `/../other`.
 */
function foldersUpFrom(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  return [...names.map((_, i) => `/${names.slice(0, names.length - i).join('/')}`), ''];
}

/** The file has microseconds of the quota, or `max`, and of the period. */
function quotaOfVersion2(folder: string): number {
  const [quota, period] = textIn(`${folder}/cpu.max`).split(' ');
  return ratioOf(quota, period);
}

function quotaOfVersion1(folder: string): number {
  const quota = textIn(`${folder}/cpu.cfs_quota_us`);
  return Number(quota) > 0 ? ratioOf(quota, textIn(`${folder}/cpu.cfs_period_us`)) : Infinity;
}

/** Infinity unless both are positive numbers. */
function ratioOf(quota = '', period = ''): number {
  const ratio = Number(quota) / Number(period);
  return ratio > 0 ? ratio : Infinity;
}

/** The threads that a quota never stops: one for each whole CPU, and at least one. */
export const threadsWithin = (quota: number | null, threads: number): number =>
  quota === null ? threads : Math.max(1, Math.min(threads, Math.floor(quota)));
