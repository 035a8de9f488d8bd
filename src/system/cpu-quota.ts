// The CPU quotas of containers. Linux stops all threads of a control group for the rest of a period once they have used its quota up.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { linesIn } from './files.ts';
import { resultOr } from './result-or.ts';

/**
 * Number of CPUs that this process may keep busy: the least quota of its control group and the groups above; null without one.
 * @param root folder of `proc` and `sys`
 */
export function cpuQuota(root = '/'): number | null {
  const quotas = linesIn(join(root, 'proc/self/cgroup')).flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined) return [];
    // A group outside the container has a path that begins with `..`.
    const folders = foldersUpFrom(normalize(path!));
    const read = (mount: string, quotaIn: (folder: string) => number) =>
      folders.map((folder) => resultOr(() => quotaIn(join(root, 'sys/fs/cgroup', mount, folder)), NaN));
    if (controllers === '') return ['', 'unified'].flatMap((mount) => read(mount, quotaOfVersion2));
    if (!controllers.split(',').includes('cpu')) return [];
    return ['cpu', controllers].flatMap((mount) => read(mount, quotaOfVersion1));
  });
  const limits = quotas.filter((quota) => quota > 0 && quota < Infinity);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** A path and its parents, up to `/`. A container may see its own group as `/`. */
const foldersUpFrom = (path: string): string[] =>
  path === '/' ? [path] : [path, ...foldersUpFrom(dirname(path))];

const textIn = (folder: string, name: string) => readFileSync(join(folder, name), 'latin1').trim();

/** The file has microseconds of the quota, or `max`, and of the period. NaN without a quota. */
function quotaOfVersion2(folder: string): number {
  const [quota, period] = textIn(folder, 'cpu.max').split(' ');
  return Number(quota) / Number(period);
}

/** Negative without a quota. */
const quotaOfVersion1 = (folder: string): number =>
  Number(textIn(folder, 'cpu.cfs_quota_us')) / Number(textIn(folder, 'cpu.cfs_period_us'));

/** The threads that a quota never stops: one for each whole CPU, and at least one. */
export const threadsWithin = (quota: number | null, threads: number): number =>
  quota === null ? threads : Math.max(1, Math.min(threads, Math.floor(quota)));
