// The environment of the benchmarks: the real compiler, the wrapper, a temporary folder, and this machine.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { describeCompiler, type CompilerDescription } from '../../src/compiler/describe.ts';
import { findCompiler, type FoundCompiler } from '../../src/compiler/find.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { deviceKey } from '../../src/backend/device.ts';
import { BenchError, say } from './arguments.ts';

/** The folder of this checkout. */
export const root = join(import.meta.dirname, '../..');

/** Flags for this machine's CPU. */
export const HOST_FLAGS = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

export interface Workplace {
  readonly compiler: FoundCompiler;
  readonly description: CompilerDescription;
  /** The wrapper's launcher. */
  readonly wrapper: string;
  /** Removed when the process ends. */
  readonly folder: string;
  readonly cacheDirectory: string;
}

/**
 * @throws BenchError when the wrapper is not built, because its launcher would run the real compiler silently
 * @throws CompilerNotFoundError
 */
export async function openWorkplace(): Promise<Workplace> {
  if (!existsSync(join(root, 'dist', 'current')))
    throw new BenchError('the wrapper is not built (there is no dist/): run `node scripts/build.mjs` first');
  const folder = temporaryFolder();
  const cacheDirectory = join(folder, 'cache');
  const compiler = findCompiler(process.env, {
    compiler: process.env['IREE_TUNED_COMPILER'],
    root,
    cacheDirectory,
  });
  return {
    compiler,
    description: await describeCompiler(compiler.executable, cacheDirectory),
    wrapper: join(root, 'bin', 'iree-compile-tuned'),
    folder,
    cacheDirectory,
  };
}

/** A folder that is removed when the process ends, also by Ctrl-C. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-bench-'));
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  // Without a handler, a signal ends the process without an 'exit' event.
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.on(signal, () => {
      process.exit(code);
    });
  return folder;
}

/**
 * The wrapper's environment: the caller's, with this compiler and `settings` (`BUDGET: '60'` sets IREE_TUNED_BUDGET), and without the
 * caller's own settings that would change the measurement.
 */
export function wrapperEnvironment(
  { compiler, cacheDirectory }: Workplace,
  settings: Readonly<Record<string, string | undefined>>,
): NodeJS.ProcessEnv {
  const own = Object.entries({
    COMPILER: compiler.invokedAs,
    CACHE: cacheDirectory,
    DISABLE: undefined,
    EXPLAIN: undefined,
    LOG: undefined,
    ON_MISS: undefined,
    READONLY: undefined,
    ...settings,
  });
  return {
    ...process.env,
    // Hides the user's settings file.
    XDG_CONFIG_HOME: cacheDirectory,
    ...Object.fromEntries(own.map(([name, value]) => [`IREE_TUNED_${name}`, value])),
  };
}

/**
 * The head of a bench's JSON. Call it before the work: it prints a warning if the machine is busy.
 * @param bench the name in `npm run bench:NAME`
 * @param driver of the runtime
 * @param versions of other programs than Node
 */
export const aboutRun = (bench: string, driver: string, versions: object) => ({
  ...{ version: 1, bench, date: new Date().toISOString() },
  ...{ machine: describeMachine(driver), versions: { node: process.version, ...versions } },
});

function describeMachine(driver: string): object {
  const device = describeDevice(driver);
  const load = loadavg()[0]!;
  // The load average covers a minute, and includes the start of this script.
  if (load > 0.5 * cpus().length)
    say(
      `The machine is busy (load ${load.toFixed(1)} on ${cpus().length} cores): the numbers will be noisy.`,
    );
  return {
    ...device,
    key: deviceKey(device),
    cores: cpus().length,
    memoryBytes: totalmem(),
    platform: `${process.platform}-${process.arch}`,
    loadAtStart: load,
  };
}

/** The last line of a failed command's stderr, or another message about the failure. */
export function lastLine(result: {
  readonly stderr: string;
  readonly originalMessage?: string | undefined;
  readonly shortMessage?: string | undefined;
}): string {
  const { stderr, originalMessage, shortMessage } = result;
  return stderr.trimEnd().split('\n').at(-1) || (originalMessage ?? shortMessage ?? 'no message');
}
