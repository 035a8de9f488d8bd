// Records of other devices of the same class, and of other compilers. A build that may measure compares them first. Records of the
// class, and of other builds of the compiler's version, are used unmeasured if a setting says so.
import { deviceClass } from '../backend/device.ts';
import { configurationKey } from '../backend/index.ts';
import type { Site } from '../site/site.ts';
import { chooseRecord } from '../store/choose.ts';
import type { RecordKey, Store, TuningRecord } from '../store/store.ts';

/**
 * The best record of the site's class for each workload of `records` that has none of its own device.
 * @param records of the site's target and compiler, on any device
 */
export function recordsOfClass(
  records: readonly TuningRecord[],
  site: Pick<Site, 'device' | 'deviceKey'>,
  store: Pick<Store, 'devices'>,
): ReadonlyMap<string, TuningRecord> {
  const others = records.filter(({ device }) => device !== site.deviceKey);
  // A hit asks neither the system nor the database for more.
  const own = others.length === 0 ? null : deviceClass(site.device);
  if (own === null) return new Map();
  const devices = store.devices().filter(({ form }) => deviceClass(form) === own);
  const keys = new Set(devices.map(({ key }) => key));
  return bestOfEach(
    others.filter(({ device }) => keys.has(device)),
    site.deviceKey,
  );
}

/** The best record of each workload, as `chooseRecord` finds it. */
export const bestOfEach = (
  records: readonly TuningRecord[],
  device: string,
  canTuneHere = false,
): Map<string, TuningRecord> =>
  new Map(
    [...Map.groupBy(records, ({ workload }) => workload)].flatMap(([workload, own]) => {
      const best = chooseRecord(own, device, canTuneHere);
      return best === null ? [] : [[workload, best] as const];
    }),
  );

/**
 * The best record of other compilers for each workload: of this device, else of its class. It is used only after a comparison with
 * this compiler's default; a record of another build of this version as one of the class.
 * @param records of the site's target and other compilers, on any device
 */
export function recordsOfCompilers(
  records: readonly TuningRecord[],
  site: Pick<Site, 'device' | 'deviceKey'>,
  store: Pick<Store, 'devices'>,
): ReadonlyMap<string, TuningRecord> {
  const here = records.filter(({ device }) => device === site.deviceKey);
  // The largest gain, of any compiler.
  return new Map([...recordsOfClass(records, site, store), ...bestOfEach(here, '')]);
}

/** Whether the device of `key` has tried or marked the configuration itself: then no other device's record counts. */
export function isKnownThere(
  { configuration }: TuningRecord,
  key: RecordKey,
  store: Pick<Store, 'marks' | 'trials'>,
): boolean {
  const text = configurationKey(configuration);
  return [...store.marks(key), ...store.trials(key)].some(
    (one) => configurationKey(one.configuration) === text,
  );
}
