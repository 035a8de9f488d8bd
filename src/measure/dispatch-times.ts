// The time of each dispatch within a function: by the runtime's statistics on a CPU, by the device's profile on a GPU.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { meterOf } from '../backend/index.ts';
import { driverOf } from '../backend/device.ts';
import type { DispatchTime, DispatchTimes, Profile } from '../backend/meter.ts';
import { readEntries } from './benchmark.ts';
import { runTool, type Toolchain, type ToolResult } from './toolchain.ts';

/** Limit for reading a profile. */
const READING_SECONDS = 30;

/** Tools and drivers that do not time dispatches: each fails once in this process. */
const unable = new Set<string>();

/**
 * A run of `iree-benchmark-module` that times the dispatches, too.
 * @param module a profile is written beside it
 * @param run runs the tool with more flags
 * @param asked another profile than that of the device
 * @returns null for a runtime or a driver that does not time dispatches. Versions before 3.13 reject the flags
 * @throws StoppedError when the signal fires
 */
export async function withDispatchTimes(
  { benchmarkModule, device, signal }: Pick<Toolchain, 'benchmarkModule' | 'device' | 'signal'>,
  module: string,
  run: (flags: readonly string[]) => Promise<ToolResult>,
  asked?: Profile,
): Promise<{ readonly result: ToolResult; readonly dispatches: DispatchTimes } | null> {
  const profile = asked ?? meterOf(device).profile;
  const own = [driverOf(device.driver), benchmarkModule, ...(profile?.flags('') ?? [])].join(' ');
  if (unable.has(own)) return null;
  const path = `${module}.profile`;
  try {
    const result = await run(profile?.flags(path) ?? ['--dispatch_statistics=true']);
    if (!result.ok) {
      if (!/dispatch_statistics|device_profiling|profiling data/.test(result.stderr))
        return { result, dispatches: new Map() };
      unable.add(own);
      return null;
    }
    if (profile === undefined) return { result, dispatches: readDispatchTimes(result.stdout) };
    const reader = join(dirname(benchmarkModule), 'iree-profile');
    const { stdout } = await runTool(reader, profile.reader(path), READING_SECONDS, signal);
    return { result, dispatches: profile.read(stdout) };
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * Reads the rows `BM_<function>/<dispatch>` of `iree-benchmark-module`'s JSON.
 * @returns an empty map where the runtime has no such statistics
 */
export function readDispatchTimes(stdout: string): DispatchTimes {
  const times = new Map<string, DispatchTime>();
  for (const { name, seconds, entry } of readEntries(stdout)) {
    const dispatch = /^BM_[^/]+\/(.+)$/.exec(name)?.[1];
    const { calls } = entry;
    if (dispatch === undefined || typeof calls !== 'number' || !(calls > 0) || !(seconds > 0)) continue;
    times.set(dispatch, { seconds, calls });
  }
  return times;
}
