// Records of other devices of the same class: proven where something may be measured, else used only where that is wanted.
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
  // Nothing more is asked of the system or the database where there is nothing to choose from.
  const own = others.length === 0 ? null : deviceClass(site.device);
  if (own === null) return new Map();
  const devices = store.devices().filter(({ form }) => deviceClass(form) === own);
  const keys = new Set(devices.map(({ key }) => key));
  const alike = others.filter(({ device }) => keys.has(device));
  return new Map(
    [...new Set(alike.map(({ workload }) => workload))].flatMap((workload) => {
      const best = chooseRecord(
        alike.filter((record) => record.workload === workload),
        site.deviceKey,
        false,
      );
      return best === null ? [] : [[workload, best] as const];
    }),
  );
}

/** Whether a device has tried this configuration itself, or it is marked there: then no other one speaks for it. */
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
