// Prepares the search for a matmul.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommand } from '../../src/compiler/command.ts';
import { findMeasuringTools } from '../../src/compiler/find.ts';
import { workloadsOf } from '../../src/decision/look-up.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { readSettings } from '../../src/settings/index.ts';
import type { Surroundings } from '../../src/settings/surroundings.ts';
import { Semaphore } from '../../src/system/semaphore.ts';
import type { Site } from '../../src/site/site.ts';
import { isReason } from '../../src/system/reason.ts';
import type { Work } from '../../src/tuning/tune-workloads.ts';
import { inspect } from '../../src/wrapper/inspect.ts';
import { BenchError, UsageError } from './arguments.ts';
import { moduleText, parseShape } from './shape.ts';
import { HOST_FLAGS, root, type Workplace } from './workplace.ts';

/** A matmul with all tools to measure its configurations. */
export interface MatmulSearch {
  readonly name: string;
  readonly work: Work;
  readonly site: Site;
  readonly toolchain: Toolchain;
}

export function surroundingsOf({ cacheDirectory, compiler }: Workplace, device: string): Surroundings {
  const env = { ...process.env, XDG_CONFIG_HOME: cacheDirectory };
  const flags = new Map([
    ['device', device],
    ['compiler', compiler.invokedAs],
    ['cache', cacheDirectory],
  ] as const);
  const { settings } = readSettings(env, flags);
  return { env, settings, root, cacheDirectory };
}

/**
 * @param name such as `512x512x512xf16`
 * @param targetFlags of the compiler
 * @throws UsageError for an invalid name, or a matmul that is not tunable
 * @throws BenchError without a runtime
 */
export async function matmulSearch(
  name: string,
  place: Workplace,
  surroundings: Surroundings,
  targetFlags: readonly string[] = HOST_FLAGS,
): Promise<MatmulSearch> {
  const { cacheDirectory, env } = surroundings;
  const file = join(place.folder, `${name}.mlir`);
  writeFileSync(file, moduleText(parseShape(name)));
  const command = await readCommand([file, ...targetFlags], place.compiler, surroundings);
  const found = await inspect(command, surroundings);
  if (isReason(found)) throw new BenchError(`${name}: ${found.reason}`);
  const { site, input } = found.inspected;
  const [work] = workloadsOf(input, site, surroundings.settings);
  if (work === undefined) throw new UsageError(`${name}: this matmul is not tunable`);
  const tools = findMeasuringTools(place.compiler, env, { root, cacheDirectory });
  if (tools === null) throw new BenchError('the runtime is missing: pip install iree-base-runtime');
  const workDirectory = join(place.folder, name);
  mkdirSync(workDirectory, { recursive: true });
  const { signal } = new AbortController();
  const { executable, compiler, flags, device } = site;
  const own = {
    compiler: executable,
    compiles: new Semaphore(2),
    release: compiler.release,
    flags,
    device,
    workDirectory,
    commonDirectory: workDirectory,
    signal,
  };
  return { name, work, site, toolchain: { ...own, ...tools } };
}
