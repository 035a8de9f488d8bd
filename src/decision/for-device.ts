// Builds for another machine: what they are for stands in the database, under a name, a key or a class.
import { deviceClass, isDevice } from '../backend/device.ts';
import type { Site } from '../site/site.ts';
import type { KnownDevice, Store } from '../store/store.ts';
import { UserError } from '../system/user-error.ts';
import { because } from '../system/reason.ts';

/** The database knows no such device; the message says which it knows. */
export class UnknownDeviceError extends UserError {
  override readonly name = 'UnknownDeviceError';
}

/** Keys that a message lists at most. */
const MOST_LISTED = 6;

/**
 * The site of a build that is for the device `asked`: its records are used, and nothing is measured for it here. On that
 * very device, and on one of the class that is asked for, it is the site as it was.
 * @throws UnknownDeviceError
 */
export function siteFor(site: Site, asked: string, store: Pick<Store, 'devices'>): Site {
  const found = deviceFor(site, asked, store);
  return found === null
    ? site
    : {
        ...site,
        ...found,
        forDevice: asked,
        whyNotHere: because('other-device', `it is for ${asked}, for which nothing is measured here`),
      };
}

/**
 * The device that people mean.
 * @param asked a name that they gave, else a key, else a class, which its first device stands for
 * @returns null when it is this one
 * @throws UnknownDeviceError
 */
export function deviceFor(
  here: Pick<Site, 'device' | 'deviceKey'>,
  asked: string,
  store: Pick<Store, 'devices'>,
): Pick<Site, 'device' | 'deviceKey'> | null {
  const known = store.devices();
  const found =
    known.find(({ name }) => name === asked) ??
    known.find(({ key }) => key === asked) ??
    known.find(({ form }) => deviceClass(form) === asked);
  if (found?.key === here.deviceKey) return null;
  if ([here.deviceKey, deviceClass(here.device)].includes(asked)) return null;
  if (found === undefined || !isDevice(found.form)) throw new UnknownDeviceError(unknown(asked, known));
  return { device: found.form, deviceKey: found.key };
}

function unknown(asked: string, known: readonly KnownDevice[]): string {
  const names = known.flatMap(({ name }) => name ?? []);
  const listed = names.length > 0 ? names : known.map(({ key }) => `"${key}"`);
  const more = listed.length > MOST_LISTED ? `, and ${listed.length - MOST_LISTED} more` : '';
  const knows = listed.length === 0 ? 'none' : listed.slice(0, MOST_LISTED).join(', ') + more;
  return (
    `for-device=${asked} is no device of the tuning database; it knows ${knows}: ` +
    'iree-tuned devices lists them, and iree-tuned devices --name gives one a name'
  );
}

/** Devices by what a person says of them: a name, a key, a class, or a part of a key that only one has. */
export function devicesLike(text: string, known: readonly KnownDevice[]): readonly KnownDevice[] {
  const exact = known.filter(({ name, key }) => name === text || key === text);
  if (exact.length > 0) return exact;
  const whole = known.filter(({ form }) => deviceClass(form) === text);
  return whole.length > 0 ? whole : known.filter(({ key }) => key.includes(text));
}
