// Builds for another machine, which the database knows by name, key or class.
import { deviceClass, isDevice } from '../backend/device.ts';
import type { Site } from '../site/site.ts';
import type { KnownDevice, Store } from '../store/store.ts';
import { UserError } from '../system/user-error.ts';
import { because } from '../system/reason.ts';

/** The database has no such device. The message lists the devices. */
export class UnknownDeviceError extends UserError {
  override readonly name = 'UnknownDeviceError';
}

/** Most devices in a message. */
const MOST_LISTED = 6;

/**
 * The site of a build for the device `asked`: its records are used, and nothing is measured. On that device, and on a device of
 * the class `asked`, the site stays as it is.
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
 * The device of a name, key or class.
 * @param asked a name, else a key, else a class; the first device stands for its class
 * @returns null for this device
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
    'iree-tuned device ls lists them, and iree-tuned device name names one'
  );
}

/** Devices by name, key, class, or part of a key. */
export function devicesLike(text: string, known: readonly KnownDevice[]): readonly KnownDevice[] {
  const exact = known.filter(({ name, key }) => name === text || key === text);
  if (exact.length > 0) return exact;
  const whole = known.filter(({ form }) => deviceClass(form) === text);
  return whole.length > 0 ? whole : known.filter(({ key }) => key.includes(text));
}
