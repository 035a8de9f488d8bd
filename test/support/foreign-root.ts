// Another system below a folder: its own user, its own few programs, a temporary folder in which nothing starts, and no file of this system. It
// stands for a board with an Arm processor, whose programs an emulator runs.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TOOLS } from '../../src/runner/runner.ts';
import { aarch64Tools, whyNoAarch64 } from './aarch64.ts';
import { temporaryDirectory } from './folders.ts';

const BUSYBOX = '/bin/busybox';
const EMULATOR = '/usr/bin/qemu-aarch64-static';
const SYSTEM = '/usr/aarch64-linux-gnu';

/** Programs of the shell there. */
const PROGRAMS = [
  ...['cat', 'sed', 'awk', 'mktemp', 'rm', 'mv', 'ln', 'mkdir', 'chmod', 'wc'],
  ...['kill', 'sha256sum', 'sleep', 'taskset'],
];

/** A Raspberry Pi 5. */
const CPUINFO = Array.from(
  { length: 4 },
  (_, i) => `processor\t: ${i}
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x4
CPU part\t: 0xd0b
CPU revision\t: 1
`,
).join('\n');

/** Why there can be no such root here; null if there can. */
export function whyNoForeignRoot(): string | null {
  if (process.getuid?.() !== 0) return 'only root can enter another root';
  const missing = [BUSYBOX, EMULATOR].find((path) => !existsSync(path));
  if (missing !== undefined) return `no ${missing}; apt-get install busybox-static qemu-user-static`;
  return whyNoAarch64();
}

export interface ForeignRoot {
  readonly folder: string;
  /** Of its temporary files, as seen from here. */
  readonly temporary: string;
  /** Folder there with the tools of the runtime. */
  readonly tools: string;
  /** Command of a shell here that runs `$SSH_ORIGINAL_COMMAND` there. */
  readonly enter: string;
  /** Unmounts its temporary folder. */
  remove(): void;
}

const USER = 12345;

export function foreignRoot(): ForeignRoot {
  const folder = temporaryDirectory();
  chmodSync(folder, 0o755);
  const at = (path: string) => join(folder, path);
  for (const path of ['bin', 'dev', 'home', 'lib', 'opt/iree', 'proc/self', 'sys/devices/system/cpu', 'tmp'])
    mkdirSync(at(path), { recursive: true });
  copyFileSync(BUSYBOX, at('bin/busybox'));
  for (const name of PROGRAMS) copyFileSync(BUSYBOX, at(`bin/${name}`));
  // BusyBox's own shell would prefer its own uname.
  for (const [name, path] of [
    ['sh', '/bin/dash'],
    ['flock', '/usr/bin/flock'],
  ] as const) {
    const libraries = execFileSync('ldd', [path], { encoding: 'utf8' }).match(/(?<=\s)\/\S+/g) ?? [];
    for (const library of libraries) {
      mkdirSync(dirname(at(library)), { recursive: true });
      copyFileSync(library, at(library));
    }
    copyFileSync(path, at(`bin/${name}`));
  }
  writeFileSync(at('bin/uname'), '#!/bin/sh\necho aarch64\n', { mode: 0o755 });
  copyFileSync(EMULATOR, at('bin/emulator'));
  cpSync(join(SYSTEM, 'lib'), at(`${SYSTEM}/lib`), { recursive: true, dereference: true });
  for (const name of TOOLS) {
    copyFileSync(join(aarch64Tools(), name), at(`opt/${name}`));
    writeFileSync(at(`opt/iree/${name}`), `#!/bin/sh\nexec /bin/emulator -L ${SYSTEM} /opt/${name} "$@"\n`, {
      mode: 0o755,
    });
  }
  writeFileSync(at('proc/cpuinfo'), CPUINFO);
  writeFileSync(at('proc/meminfo'), 'MemTotal:       8000000 kB\n');
  writeFileSync(at('proc/self/status'), 'Cpus_allowed_list:\t0-3\n');
  writeFileSync(at('sys/devices/system/cpu/online'), '0-3\n');
  execFileSync('mknod', ['-m', '666', at('dev/null'), 'c', '1', '3']);
  chownSync(at('home'), USER, USER);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `noexec,size=64m,uid=${USER},mode=700`, 'tmpfs', at('tmp')]);
  return {
    folder,
    temporary: at('tmp'),
    tools: '/opt/iree',
    enter: `exec env -i PATH=/bin HOME=/home /usr/sbin/chroot --userspec=${USER}:${USER} ${folder} /bin/sh -c "$SSH_ORIGINAL_COMMAND"`,
    remove: () => {
      execFileSync('umount', ['-l', at('tmp')]);
    },
  };
}
