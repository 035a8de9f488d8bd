// The parts of an inspected compile, without a compiler: command, input, site and settings.
import { parse } from 'mlir-parser-ts';
import { readArguments } from '../../src/compiler/arguments.ts';
import { stampsOfFlags } from '../../src/compiler/command-files.ts';
import { whyUntouched } from '../../src/compiler/untouched.ts';
import type { Command } from '../../src/compiler/command.ts';
import { readingOf, type Input } from '../../src/input/input.ts';
import { classify } from '../../src/input/operation.ts';
import { readSettings, type Settings } from '../../src/settings/index.ts';
import type { Surroundings } from '../../src/settings/surroundings.ts';
import type { Site } from '../../src/site/site.ts';
import { targetKey, type Target } from '../../src/backend/target.ts';
import { workloadKey } from '../../src/workload/workload.ts';
import { temporaryDirectory } from './folders.ts';
import { matmul } from './workloads.ts';

/** A command line of an iree-compile that does not exist. */
export function commandOf(...argv: string[]): Command {
  const executable = '/nowhere/iree-compile';
  const args = readArguments(argv, (name) => (name === 'o' ? 'value' : 'flag'));
  return {
    compiler: { executable, invokedAs: executable, origin: 'PATH' },
    argv,
    expanded: argv,
    arguments: args,
    files: { variables: [], ofCompiler: [], ofFlags: stampsOfFlags(args.flags) },
    whyUntouched: whyUntouched(args),
  };
}

/** Text of an f32 matmul; `m` may be dynamic. */
export const matmulText = (m: number | '?', n: number, k: number): string =>
  `%r = linalg.matmul ins(%x, %y : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%z : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>\n`;

export const keyOfMatmul = (m: number, n: number, k: number): string => workloadKey(matmul(m, n, k));

/** An input of linalg text. */
export function inputOf(text: string, change: Partial<Input> = {}): Input {
  const bytes = Buffer.from(text);
  return {
    bytes,
    isWhole: true,
    isHuge: false,
    cuts: [],
    file: null,
    digest: `digest of ${text}`,
    identity: `identity of ${text}`,
    reading: readingOf(commandOf('in.mlir').arguments),
    operations: classify(parse(bytes).operations, {}),
    surveyed: true,
    waitedSeconds: 0,
    rewritables: [],
    ...change,
  };
}

/** The same input before the compiler's survey. */
export const unsurveyed = (text: string): Input => inputOf(text, { surveyed: false });

const TARGET: Target = {
  backend: 'llvm-cpu',
  triple: 'x86_64-unknown-linux-gnu',
  cpu: 'znver4',
  features: ['avx2', 'fma'],
  nativeVectorBytes: 64,
  flags: [],
};

/** A site with one thread of a CPU and compiler 3.13.0. */
export function siteOf(change: Partial<Site> = {}, target: Partial<Target> = {}): Site {
  const expanded = { ...TARGET, ...target };
  return {
    executable: '/nowhere/iree-compile',
    compiler: { version: '3.13.0', commit: 'c'.repeat(40), release: [3, 13, 0], key: '3.13.0@cccccccccc' },
    target: { target: expanded, key: targetKey(expanded) },
    device: { model: 'a CPU', driver: 'local-sync', threads: 1, cachesKiB: [32, 1024] },
    deviceKey: 'a CPU local-sync threads=1',
    driverFiles: [],
    flags: [],
    forDevice: null,
    whyNotHere: null,
    ...change,
  };
}

/** Surroundings with default settings and these changes, in a temporary folder, isolated from the user's files and measuring lock. */
export function surroundingsOf(change: Partial<Settings> = {}): Surroundings {
  const folder = temporaryDirectory();
  const { settings } = readSettings({ HOME: folder }, new Map());
  return {
    env: { IREE_TUNED_MACHINE: folder },
    settings: { ...settings, ...change },
    root: folder,
    cacheDirectory: settings.cache,
  };
}
