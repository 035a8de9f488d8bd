// A compile as far as it is looked at, without a compiler: command, input, site, settings.
import { parse } from 'mlir-parser-ts';
import { readArguments } from '../../src/compiler/arguments.ts';
import type { Command } from '../../src/compiler/command.ts';
import type { Input } from '../../src/input/input.ts';
import { classify } from '../../src/input/operation.ts';
import { readSettings, type Settings } from '../../src/settings/index.ts';
import type { Surroundings } from '../../src/settings/surroundings.ts';
import type { Site } from '../../src/site/site.ts';
import { targetKey, type Target } from '../../src/backend/target.ts';
import { workloadKey } from '../../src/workload/workload.ts';
import { temporaryDirectory } from './folders.ts';
import { matmul } from './workloads.ts';

/** A command line of an iree-compile that is nowhere. */
export function commandOf(...argv: string[]): Command {
  const executable = '/nowhere/iree-compile';
  return {
    compiler: { executable, invokedAs: executable, origin: 'PATH' },
    argv,
    expanded: argv,
    arguments: readArguments(argv, { kindOf: (name) => (name === 'o' ? 'value' : 'flag') }),
  };
}

/** Text of a matmul of f32; a size may be `?`. */
export const matmulText = (m: number | '?', n: number, k: number): string =>
  `%r = linalg.matmul ins(%x, %y : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%z : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>\n`;

/** What that is tuned as. */
export const keyOfMatmul = (m: number, n: number, k: number): string => workloadKey(matmul(m, n, k));

/** An input of linalg text, as it is written. */
export function inputOf(text: string, change: Partial<Input> = {}): Input {
  const bytes = Buffer.from(text);
  return {
    bytes,
    isWhole: true,
    cuts: [],
    file: null,
    digest: `digest of ${text}`,
    reading: { fromStdin: false, dataTiling: false, ownPreprocessing: false, ownPipeline: false },
    operations: classify(parse(bytes).operations, {}),
    surveyed: true,
    waitedSeconds: 0,
    rewritables: [],
    ...change,
  };
}

/** The same input as one that the compiler was not asked about yet. */
export const unsurveyed = (text: string): Input => inputOf(text, { surveyed: false });

const TARGET: Target = {
  backend: 'llvm-cpu',
  triple: 'x86_64-unknown-linux-gnu',
  cpu: 'znver4',
  features: ['avx2', 'fma'],
  nativeVectorBytes: 64,
  flags: [],
};

/** Where one thread of this machine is compiled for, with the newest compiler. */
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

/** Nobody's settings but these, in folders of their own, on a machine on which nobody measures and nothing is installed. */
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
