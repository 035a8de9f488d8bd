// Measures the rates of a device.
import { findMeasuringTools, type FoundCompiler } from '../compiler/find.ts';
import { ownCache } from '../backend/device.ts';
import { StoppedError } from '../measure/toolchain.ts';
import type { DeviceRates } from '../report/loss.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import type { Store } from '../store/store.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { messageOf, tell } from '../system/tell.ts';
import { knownRates, noteRates, ratesPlaceOf } from './known-rates.ts';
import { cacheRate, memoryRate } from './memory-rate.ts';
import { PEAK_TYPES, peakRate } from './peak-rate.ts';

/**
 * Measures rates of a CPU and notes them. Disturbances only lower a rate, so the larger of two measurements stays. The caller holds the measuring
 * lock.
 * @param types of factors whose peaks are wanted; others than `PEAK_TYPES` have no peak
 * @param isAgain whether known rates are measured again
 * @throws StoppedError when the signal fires
 */
export async function measureRates(
  compiler: FoundCompiler,
  site: Site,
  types: ReadonlySet<string>,
  isAgain: boolean,
  store: Store,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<DeviceRates> {
  const { cacheDirectory, env, settings } = surroundings;
  const place = ratesPlaceOf(site);
  const before = knownRates(place, store);
  const trying = async (what: string, measure: () => Promise<number | null>): Promise<number | null> => {
    try {
      return await measure();
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      tell(`${what} cannot be measured: ${messageOf(error)}`, settings.log);
      return null;
    }
  };
  const larger = async (old: number | null, what: string, measure: () => Promise<number | null>) =>
    old !== null && !isAgain ? old : Math.max(old ?? 0, (await trying(what, measure)) ?? 0) || null;
  // Threads of this process read the memory, which is not that of a runner.
  const isHere = settings.runner === undefined;
  const bytesPerSecond = isHere
    ? await larger(before.bytesPerSecond, 'the memory rate', () => memoryRate(site.device.threads))
    : null;
  const own = isHere ? ownCache(site.device) : null;
  const cached =
    own === null
      ? null
      : await larger(before.cache?.bytesPerSecond ?? null, 'the rate of caches', () =>
          cacheRate(site.device.threads, own),
        );
  const tools = findMeasuringTools(compiler, env, surroundings);
  const peaks: [string, number | null][] = [];
  if (tools !== null)
    await withScratchFolder(cacheDirectory, 'rates', async (folder) => {
      for (const type of PEAK_TYPES.filter((one) => types.has(one))) {
        const old = before.multiplicationsPerSecond[type] ?? null;
        const measure = () => peakRate(type, site, tools, folder, cacheDirectory, signal);
        peaks.push([type, await larger(old, `the peak of ${type}`, measure)]);
      }
    });
  const measured = peaks.filter((peak): peak is [string, number] => peak[1] !== null);
  const rates: DeviceRates = {
    bytesPerSecond,
    cache:
      own === null || cached === null ? null : { bytes: site.device.threads * own, bytesPerSecond: cached },
    multiplicationsPerSecond: { ...before.multiplicationsPerSecond, ...Object.fromEntries(measured) },
  };
  noteRates(place, rates, store);
  return rates;
}
