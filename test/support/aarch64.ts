// An emulated machine of the architecture AArch64 with the tools of IREE's runtime. Its times mean nothing.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { runnerOf, standIn } from '../../src/runner/runner.ts';
import { root, temporaryDirectory } from './folders.ts';

/** Where Debian's packages for cross compiles put the libraries. */
const SYSTEM = '/usr/aarch64-linux-gnu';

const PACKAGES = 'apt-get install qemu-user libc6-arm64-cross libstdc++6-arm64-cross';

const FOLDER = join(root, '.cache', 'aarch64');

/** Platforms of IREE's wheels. */
const PLATFORMS = ['manylinux_2_28_aarch64', 'manylinux_2_27_aarch64'];

const TOOL = 'iree-run-module';

/** Downloads the runtime of the installed release, and unpacks it below a folder. */
const UNPACK = `
import glob, importlib.metadata, subprocess, sys, zipfile
folder, platforms = sys.argv[1], sys.argv[2:]
package = 'iree-base-runtime'
subprocess.run([sys.executable, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:',
    *['--platform=' + one for one in platforms], '--dest', folder, package + '==' + importlib.metadata.version(package)], check=True)
zipfile.ZipFile(glob.glob(folder + '/*.whl')[0]).extractall(folder)
`;

/** The folder with the runtime's tools, downloaded once; else the reason that there is none. */
function toolsFolder(): { readonly folder: string } | string {
  const folder = join(FOLDER, 'iree', '_runtime_libs');
  if (existsSync(join(folder, TOOL))) return { folder };
  const python = join(root, '.venv', 'bin', 'python');
  if (!existsSync(python)) return "no .venv with IREE's runtime: scripts/setup.sh makes it";
  const made = `${FOLDER}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const { status, stderr } = spawnSync(python, ['-c', UNPACK, made, ...PLATFORMS], { encoding: 'utf8' });
  if (status !== 0) return `IREE's runtime for aarch64 could not be downloaded: ${stderr.trim().slice(-200)}`;
  // Python unpacks without permissions.
  for (const tool of globSync(join(made, 'iree', '_runtime_libs', 'iree-*'))) chmodSync(tool, 0o755);
  renameSync(made, FOLDER);
  return { folder };
}

/** Why there is no emulated machine; null when there is one. */
export function whyNoAarch64(): string | null {
  if (spawnSync('qemu-aarch64', ['--version']).status !== 0) return `no qemu-aarch64; ${PACKAGES}`;
  if (!existsSync(join(SYSTEM, 'lib', 'libstdc++.so.6'))) return `no libraries in ${SYSTEM}; ${PACKAGES}`;
  const tools = toolsFolder();
  return typeof tools === 'string' ? tools : null;
}

/** Folder with the runtime's tools for AArch64. */
export function aarch64Tools(): string {
  const tools = toolsFolder();
  if (typeof tools === 'string') throw new Error(tools);
  return tools.folder;
}

/** The program that runs `iree-run-module` in the emulator, which has all features that a CPU can have. */
export function emulatedRunModule(): string {
  const settings = { runner: `qemu-aarch64 -cpu max -L ${SYSTEM}`, runnerTools: aarch64Tools() };
  return standIn(runnerOf(settings, temporaryDirectory())!, TOOL, root);
}
