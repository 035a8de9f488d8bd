// Rates of a device in the database: how fast it reads memory, and its peak of multiply-adds by element type.
import { classOr } from '../backend/device.ts';
import { NO_RATES, type DeviceRates } from '../report/loss.ts';
import type { Site } from '../site/site.ts';
import type { KnownDevice, Store } from '../store/store.ts';
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

/** The keys that rates depend on: the features of the target bound the code. */
export interface RatesPlace {
  readonly target: string;
  readonly compiler: string;
  /** Class of the device; its key if it has no class. */
  readonly device: string;
}

export const ratesPlaceOf = ({ target, device, deviceKey, compiler }: Site): RatesPlace => ({
  target: target.key,
  device: classOr(deviceKey, device),
  compiler: compiler.key,
});

/** The place of keys in a database, whose devices have descriptions. */
export function ratesPlaceAt(
  { target, device, compiler }: RatesPlace,
  devices: readonly Pick<KnownDevice, 'key' | 'form'>[],
): RatesPlace {
  const form = devices.find(({ key }) => key === device)?.form;
  return { target, device: classOr(device, form), compiler };
}

/** Key of the note. It begins unlike the key of any program. */
const noteOf = ({ target, device, compiler }: RatesPlace): string =>
  JSON.stringify({ rates: [target, device, compiler] });

/** The rates in the database. */
export const knownRates = (place: RatesPlace, store: Store | null): DeviceRates =>
  deviceRates.recall(store, noteOf(place)) ?? NO_RATES;

export function noteRates(place: RatesPlace, rates: DeviceRates, store: Store): void {
  deviceRates.remember(store, noteOf(place), rates);
}
