// Network file systems, mostly from simulated answers of the system.
import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  deviceNumber,
  fileSystemName,
  isOwnDisk,
  mountIn,
  networkName,
  networkOf,
  type Mount,
} from '../../src/system/file-system.ts';
import { temporaryDirectory } from '../support/folders.ts';

const FUSE = 0x65735546;
const V9FS = 0x01021997;
const nobodyAsks = () => {
  throw new Error('its type says enough');
};
const mounted =
  (type: string, options = 'rw') =>
  (): Mount => ({ type, options });

describe('a network disk', () => {
  test.each([
    [0x6969, 'NFS'],
    [0xfe534d42, 'SMB'],
    [0xff534d42, 'CIFS'],
    // As a signed 32-bit number.
    [0xff534d42 | 0, 'CIFS'],
    [0x517b, 'SMB'],
    [0x0bd00bd0, 'Lustre'],
    [0x47504653, 'GPFS'],
    [0x00c36400, 'CephFS'],
    [0x19830326, 'BeeGFS'],
    [0x5346414f, 'AFS'],
  ])('has a known type %i', (type, name) => {
    expect(networkName(type, nobodyAsks)).toBe(name);
  });
  test.each(['fuse.sshfs', 'fuse.glusterfs', 'fuse.s3fs', 'fuse.rclone', 'fuse.ceph-fuse'])(
    'is known by the name of what makes it: %s',
    (type) => {
      expect(networkName(FUSE, mounted(type))).toBe(type);
    },
  );
  test('is 9p over a network', () => {
    expect(networkName(V9FS, mounted('9p', 'rw,access=client,trans=tcp,port=564'))).toBe('9p');
  });
});

describe('a local disk', () => {
  test.each([
    ['ext4', 0xef53],
    ['XFS', 0x58465342],
    ['Btrfs', 0x9123683e],
    ['ZFS', 0x2fc12fc1],
    ['tmpfs', 0x01021994],
    ["a container's overlayfs", 0x794c7630],
    ['what nobody has heard of', 0x12345678],
  ])('is %s', (_, type) => {
    expect(networkName(type, nobodyAsks)).toBeNull();
  });
  test.each(['virtiofs', 'fuse', 'fuse.grpcfuse', 'fuse.lxcfs', 'fuseblk', 'fuse.sshfs-like', 'fuse.bindfs'])(
    'is %s, which programs make on this machine',
    (type) => {
      expect(networkName(FUSE, mounted(type))).toBeNull();
    },
  );
  test.each([
    ['a sandbox', 'rw,trans=fd,rfdno=7,wfdno=7,directfs'],
    ['a virtual machine', 'rw,sync,dirsync,access=client,trans=virtio'],
    ['WSL', 'rw,aname=drvfs;path=C:\\;uid=1000,cache=5,access=client,trans=fd,rfd=8,wfd=8'],
    ['somebody whose mounts tell nothing', ''],
  ])('is the 9p of %s', (_, options) => {
    expect(networkName(V9FS, mounted('9p', options))).toBeNull();
  });
  test('is assumed for an unknown mount', () => {
    for (const type of [FUSE, V9FS]) expect(networkName(type, () => null)).toBeNull();
  });
});

test.runIf(process.platform === 'linux').each([
  [0xef53, true],
  [0x01021994, true],
  [0x9123683e | 0, true],
  [0x6969, false],
  [FUSE, false],
  [V9FS, false],
  [0x12345678, false],
])('a disk of the type %i is only of this machine: %j', (type, isOwn) => {
  expect(isOwnDisk('/', { typeOf: () => type })).toBe(isOwn);
});

describe.runIf(process.platform === 'linux')('a path', () => {
  const error = (code: string) => Object.assign(new Error(code), { code });
  test('of a new file is on the file system of its parent', () => {
    const asked: string[] = [];
    const typeOf = (path: string) => {
      asked.push(path);
      if (path !== '/home') throw error(path === '/home/ada/x/tuning.db' ? 'ENOTDIR' : 'ENOENT');
      return 0x6969;
    };
    expect(networkOf('/home/ada/x/tuning.db', { typeOf, mountOf: nobodyAsks })).toBe('NFS');
    expect(asked).toEqual(['/home/ada/x/tuning.db', '/home/ada/x', '/home/ada', '/home']);
  });
  test.each(['EACCES', 'ENOSYS', 'ENOENT'])(
    'of which the system does not tell (%s) is no network',
    (code) => {
      const typeOf = () => {
        throw error(code);
      };
      expect(networkOf('/a/b', { typeOf, mountOf: nobodyAsks })).toBeNull();
    },
  );
  test('on this machine has a named file system', () => {
    const folder = temporaryDirectory();
    expect(networkOf(folder)).toBeNull();
    expect(fileSystemName(folder)).toMatch(/^\w/);
  });
});

describe('a mount', () => {
  const text = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
40 27 0:45 / /mnt/a\\040b rw,nosuid shared:2 master:1 - fuse.sshfs ada@host:/srv rw,user_id=0
`;
  test('is found by its device number', () => {
    expect(mountIn(text, '0:45')).toEqual({ type: 'fuse.sshfs', options: 'rw,user_id=0' });
    expect(mountIn(text, '254:0')).toEqual({ type: 'ext4', options: 'rw,discard' });
  });
  test('is null for an unknown number or an invalid text', () => {
    expect(mountIn(text, '0:4')).toBeNull();
    expect(mountIn('', '0:45')).toBeNull();
    expect(mountIn('40 27 0:45\n', '0:45')).toBeNull();
  });
  test('number is unpacked from Linux st_dev', () => {
    expect(deviceNumber(45)).toBe('0:45');
    expect(deviceNumber(0xfe00)).toBe('254:0');
    // Major 259, minor 300.
    expect(deviceNumber((259 << 8) | (300 & 0xff) | ((300 & ~0xff) << 12))).toBe('259:300');
    expect(deviceNumber(statSync('/').dev)).toMatch(/^\d+:\d+$/);
  });
});
