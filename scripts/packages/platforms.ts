// Platforms of wheels. The minimal system in a wheel's name comes from the binary in it.
import { join } from 'node:path';
import { fileFrom } from './files.ts';

export interface Platform {
  /** `process.platform`-`process.arch`, which better-sqlite3 uses for its binaries. */
  readonly name: string;
  /** Machine in the wheel's tag. */
  readonly machine: string;
}

export const PLATFORMS: readonly Platform[] = [
  { name: 'linux-x64', machine: 'x86_64' },
  { name: 'linux-arm64', machine: 'aarch64' },
  { name: 'darwin-arm64', machine: 'arm64' },
];

export const SQLITE = 'node_modules/better-sqlite3';
export const binaryOf = ({ name }: Platform): string => join(SQLITE, 'prebuilds', `${name}.node`);

/** Platform tag of a wheel, such as `manylinux_2_34_x86_64` or `macosx_11_0_arm64`. */
export function platformTag(platform: Platform): string {
  const { contents } = fileFrom(binaryOf(platform));
  const system = platform.name.startsWith('linux')
    ? `manylinux_${oldestGlibc(contents).join('_')}`
    : `macosx_${oldestMacOs(contents).join('_')}`;
  return `${system}_${platform.machine}`;
}

/** The oldest glibc that has all symbols of an ELF file. */
export function oldestGlibc(elf: Uint8Array): [number, number] {
  const versions = Buffer.from(elf)
    .toString('latin1')
    .matchAll(/\bGLIBC_2\.(\d+)/g);
  const minor = Math.max(...[...versions].map(([, version]) => Number(version)));
  if (!Number.isFinite(minor)) throw new Error('this is no ELF file that is linked with glibc');
  return [2, minor];
}

const [MACH_O_64, LC_BUILD_VERSION] = [0xfeedfacf, 0x32];

/** The oldest macOS for a Mach-O file. From 11 on wheels use the major version only. */
export function oldestMacOs(machO: Uint8Array): [number, number] {
  const view = new DataView(machO.buffer, machO.byteOffset, machO.byteLength);
  const word = (at: number) => view.getUint32(at, true);
  if (word(0) !== MACH_O_64) throw new Error('this is no Mach-O file of 64 bits');
  let at = 32;
  for (let command = 0; command < word(16); command++) {
    // Its third word is the platform (1 is macOS), the fourth the version XXXX.YY.ZZ.
    if (word(at) === LC_BUILD_VERSION && word(at + 8) === 1) {
      const version = word(at + 12);
      const major = version >>> 16;
      return [major, major > 10 ? 0 : (version >>> 8) & 0xff];
    }
    at += word(at + 4);
  }
  throw new Error('this Mach-O file does not say which macOS it is for');
}
