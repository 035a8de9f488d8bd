// Finds the file system of a path: SQLite's locks do not work on network file systems.
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { resultOr } from './result-or.ts';

/** Names of network file systems by the `f_type` of statfs(2). */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xfe534d42: 'SMB',
  0xff534d42: 'CIFS',
  0x564c: 'NCP',
  0x5346414f: 'AFS',
  0x6b414653: 'AFS',
  0x73757245: 'Coda',
  0x0bd00bd0: 'Lustre',
  0x47504653: 'GPFS',
  0x00c36400: 'CephFS',
  0x19830326: 'BeeGFS',
  0xaad7aaea: 'PanFS',
};

const FUSE = 0x65735546;
const V9FS = 0x01021997;

/** FUSE file systems of other machines' files. Others, such as virtiofs, are local. */
const NETWORK_FUSE =
  /^fuse\.(?:sshfs|glusterfs|ceph(?:-fuse)?|s3fs|gcsfuse|blobfuse2?|rclone|goofys|juicefs|mfs|moosefs|lizardfs|seaweedfs|davfs2?|curlftpfs|smbnetfs|beegfs|hdfs|cvmfs2?|afp|mount-s3|geesefs)$/;

/** Mount options of a 9p file system over a network. */
const NETWORK_9P = /(?:^|,)trans=(?:tcp|rdma)(?:,|$)/;

/** A line of `/proc/self/mountinfo`. */
export interface Mount {
  /** Such as `ext4`, `fuse.sshfs`. */
  readonly type: string;
  /** Comma-separated options of the file system. */
  readonly options: string;
}

/** Queries of the system, which tests replace. */
export interface FileSystemQuestions {
  /** `f_type` of the file system that a path lies on. */
  readonly typeOf: (path: string) => number;
  /** The mount of a path's file system; null if unknown. */
  readonly mountOf: (path: string) => Mount | null;
}

/**
 * Name of the network file system of a type; null for a local one.
 *
 * 9p usually is the host's disk in a virtual machine or sandbox (WSL, gVisor), where locks work. Only 9p over TCP or RDMA is a network.
 */
export function networkName(type: number, mount: () => Mount | null): string | null {
  const known = NETWORK_TYPES[type >>> 0];
  if (known !== undefined) return known;
  if (type === FUSE) return NETWORK_FUSE.exec(mount()?.type ?? '')?.[0] ?? null;
  return type === V9FS && NETWORK_9P.test(mount()?.options ?? '') ? '9p' : null;
}

/** Name of the network file system of an existing or new path; null for a local or unknown one. */
export function networkOf(path: string, { typeOf, mountOf }: FileSystemQuestions = LINUX): string | null {
  if (process.platform !== 'linux') return null;
  for (let at = path; ; at = dirname(at)) {
    try {
      return networkName(typeOf(at), () => mountOf(at));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || at === dirname(at)) return null;
    }
  }
}

/** File systems (`f_type`) that only one running machine at a time can mount, because their disk or memory is its own. */
const OWN_TYPES: ReadonlySet<number> = new Set([
  ...[
    0xef53 /* ext */, 0x58465342 /* XFS */, 0x9123683e /* Btrfs */, 0x2fc12fc1 /* ZFS */,
    0xf2f52010 /* F2FS */,
  ],
  ...[0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */, 0x794c7630 /* overlayfs */, 0xca451a4e /* bcachefs */],
]);

/**
 * Whether no other machine can see the files of a path. False for network disks, for folders that a virtual machine shares with its host
 * (virtiofs, 9p), and for unknown types.
 */
export const isOwnDisk = (path: string, { typeOf }: Pick<FileSystemQuestions, 'typeOf'> = LINUX): boolean =>
  process.platform !== 'linux' || resultOr(() => OWN_TYPES.has(typeOf(path) >>> 0), false);

export const fileSystemName = (path: string): string | null =>
  process.platform === 'linux' ? (networkOf(path) ?? LINUX.mountOf(path)?.type ?? null) : null;

const LINUX: FileSystemQuestions = {
  typeOf: (path) => statfsSync(path).type,
  mountOf: (path) =>
    resultOr(() => {
      const { dev } = statSync(path);
      return mountIn(readFileSync('/proc/self/mountinfo', 'utf8'), deviceNumber(dev));
    }, null),
};

/** `major:minor` of a Linux `st_dev`. */
export const deviceNumber = (dev: number): string =>
  `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xfff00)}`;

/** The mount of a device number in the text of `/proc/self/mountinfo`; null for none. */
export function mountIn(text: string, number: string): Mount | null {
  for (const line of text.split('\n')) {
    const [place, kind] = line.split(' - ', 2);
    if (place?.split(' ')[2] !== number || kind === undefined) continue;
    const [type = '', , options = ''] = kind.split(' ');
    return { type, options };
  }
  return null;
}
