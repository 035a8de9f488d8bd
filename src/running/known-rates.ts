// Rates of a device in the database: how fast it reads memory, and its peak of multiply-adds by element type.
import { classOr } from '../backend/device.ts';
import type { SiteKeys } from '../compiler/command-identity.ts';
import { NO_RATES, type DeviceRates } from '../report/loss.ts';
import type { Site } from '../site/site.ts';
import type { KnownDevice, Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { hasFields, isObject, orNull } from '../system/data.ts';
import { programNotes } from './program-notes.ts';

const isRate = (value: unknown): boolean => typeof value === 'number' && value > 0 && Number.isFinite(value);

const deviceRates = programNotes(
  'times',
  hasFields<DeviceRates>({
    bytesPerSecond: orNull(isRate),
    cache: orNull(hasFields<NonNullable<DeviceRates['cache']>>({ bytes: isRate, bytesPerSecond: isRate })),
    multiplicationsPerSecond: (rates) => isObject(rates) && Object.values(rates).every(isRate),
  }),
);

/** The keys that rates depend on: the features of the target bound the code. The device is a class; a key if it has no class. */
export const ratesPlaceOf = (site: Site): SiteKeys => ({
  ...placeOf(site),
  device: classOr(site.deviceKey, site.device),
});

/** The place of keys in a database, whose devices have descriptions. */
export function ratesPlaceAt(
  place: SiteKeys,
  devices: readonly Pick<KnownDevice, 'key' | 'form'>[],
): SiteKeys {
  const form = devices.find(({ key }) => key === place.device)?.form;
  return { ...place, device: classOr(place.device, form) };
}

/** Key of the note. It begins unlike the key of any program. */
const noteOf = ({ target, device, compiler }: SiteKeys): string =>
  JSON.stringify({ rates: [target, device, compiler] });

/** The rates in the database. */
export const knownRates = (place: SiteKeys, store: Store | null): DeviceRates =>
  deviceRates.recall(store, noteOf(place)) ?? NO_RATES;

export function noteRates(place: SiteKeys, rates: DeviceRates, store: Store): void {
  deviceRates.remember(store, noteOf(place), rates);
}
