// Which file system a path lies on: on a network's, the locks of SQLite do not hold what they promise.
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** What Linux calls file systems whose files other machines have, too, by the `f_type` of statfs(2). */
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

/** File systems that programs make, of which those that lead to other machines; the others, such as virtiofs, do not. */
const NETWORK_FUSE =
  /^fuse\.(?:sshfs|glusterfs|ceph(?:-fuse)?|s3fs|gcsfuse|blobfuse2?|rclone|goofys|juicefs|mfs|moosefs|lizardfs|seaweedfs|davfs2?|curlftpfs|smbnetfs|beegfs|hdfs|cvmfs2?|afp|mount-s3|geesefs)$/;

/** Of a 9p file system, what goes over a network. */
const NETWORK_9P = /(?:^|,)trans=(?:tcp|rdma)(?:,|$)/;

/** A line of `/proc/self/mountinfo`. */
export interface Mount {
  /** Such as `ext4`, `fuse.sshfs`. */
  readonly type: string;
  /** Of the file system, separated by commas. */
  readonly options: string;
}

/** What is asked of the system; tests give other answers. */
export interface FileSystemQuestions {
  /** `f_type` of the file system that a path lies on. */
  readonly typeOf: (path: string) => number;
  /** How the file system is mounted; null where that cannot be known. */
  readonly mountOf: (path: string) => Mount | null;
}

/**
 * The network file system that such a type stands for; null for all others.
 *
 * 9p is a machine's own disk as its virtual machines and sandboxes see it, in WSL and gVisor too, whose locks hold among
 * those that see it so; only what says that it comes by TCP is a network's. What FUSE brings is told by its name.
 */
export function networkName(type: number, mount: () => Mount | null): string | null {
  const known = NETWORK_TYPES[type >>> 0];
  if (known !== undefined) return known;
  if (type === FUSE) return NETWORK_FUSE.exec(mount()?.type ?? '')?.[0] ?? null;
  return type === V9FS && NETWORK_9P.test(mount()?.options ?? '') ? '9p' : null;
}

/** The network file system that a path lies on, or would be made on; null where it is none, or cannot be known. */
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

/** A name for people of the file system that a path lies on; null where that cannot be known. */
export const fileSystemName = (path: string): string | null =>
  process.platform === 'linux' ? (networkOf(path) ?? LINUX.mountOf(path)?.type ?? null) : null;

const LINUX: FileSystemQuestions = {
  typeOf: (path) => statfsSync(path).type,
  mountOf(path) {
    try {
      const { dev } = statSync(path);
      return mountIn(readFileSync('/proc/self/mountinfo', 'utf8'), deviceNumber(dev));
    } catch {
      return null;
    }
  },
};

/** `major:minor` of what Linux gives as a `st_dev`. */
export const deviceNumber = (dev: number): string =>
  `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xfff00)}`;

/** The mount of that number in the text of `/proc/self/mountinfo`; null where there is none. */
export function mountIn(text: string, number: string): Mount | null {
  for (const line of text.split('\n')) {
    const [place, kind] = line.split(' - ', 2);
    if (place?.split(' ')[2] !== number || kind === undefined) continue;
    const [type = '', , options = ''] = kind.split(' ');
    return { type, options };
  }
  return null;
}
