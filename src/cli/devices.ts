// `iree-tuned devices`: the devices that the database knows, and what people call them.
import type { Command as Program } from 'commander';
import { deviceClass, deviceKey } from '../backend/device.ts';
import { describeDeviceHere } from './context.ts';
import { devicesLike } from '../decision/for-device.ts';
import { table } from '../report/table.ts';
import type { KnownDevice, Store } from '../store/store.ts';
import { isDeviceName } from '../store/validate.ts';
import { UserError } from '../system/user-error.ts';
import { openDatabase, openToLook, surroundingsOf, UsageError } from './context.ts';
import { page, say } from './output.ts';

/** A device as it is listed. */
interface ListedDevice {
  readonly key: string;
  readonly class: string | null;
  readonly name: string | null;
  /** Whether it is this machine, by the driver that is set. */
  readonly here: boolean;
  readonly records: number;
  /** When its newest record was written, ISO 8601 UTC; null where it has none. */
  readonly lastSeen: string | null;
}

export async function showDevices(
  which: string | undefined,
  options: { name?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const here = await describeDeviceHere(surroundings);
  const own = { key: deviceKey(here), form: here };
  const { database } = surroundings.settings;
  if (options.name === undefined) {
    const { store } = await openToLook(surroundings);
    const known = store.devices();
    const shown = which === undefined ? known : devicesLike(which, known);
    const listed = list(shown, own.key, store);
    store.close();
    if (options.json === true) console.log(JSON.stringify(listed, null, 2));
    else if (listed.length === 0)
      say(`No devices${which === undefined ? '' : ` like "${which}"`} in ${database}.`);
    else console.log(describe(listed));
    return;
  }
  const wanted = options.name;
  if (!isDeviceName(wanted))
    throw new UsageError(
      `--name ${String(wanted)}: it takes up to 64 letters, digits, dots, dashes and underscores, the first a letter or digit`,
    );
  const store = await openDatabase(surroundings);
  const device = which === undefined ? own : theOne(which, store.devices());
  const before = store.devices().find(({ name }) => name === wanted);
  store.nameDevice(wanted, device);
  const listed = list(
    store.devices().filter(({ key }) => key === device.key),
    own.key,
    store,
  );
  store.close();
  if (options.json === true) console.log(JSON.stringify(listed, null, 2));
  else {
    say(`${wanted} is now ${device.key}`);
    if (before !== undefined && before.key !== device.key)
      say(`It was ${before.key}, which has no name any more.`);
  }
}

function theOne(which: string, known: readonly KnownDevice[]): KnownDevice {
  const found = devicesLike(which, known);
  const [device] = found;
  if (device === undefined)
    throw new UserError(`no device is like "${which}"; iree-tuned devices lists those that there are`);
  if (found.length > 1)
    throw new UserError(
      `"${which}" fits ${found.length} devices; give more of the key:\n` +
        found.map(({ key }) => `  ${key}`).join('\n'),
    );
  return device;
}

function list(devices: readonly KnownDevice[], own: string, store: Store): ListedDevice[] {
  const records = store.allRecords();
  return devices.map(({ key, form, name }) => {
    // The newest comes first.
    const written = records.filter(({ device }) => device === key);
    return {
      key,
      class: deviceClass(form),
      name,
      here: key === own,
      records: written.length,
      lastSeen: written[0]?.createdAt ?? null,
    };
  });
}

const describe = (devices: readonly ListedDevice[]): string =>
  table(
    ['name', 'records', 'last seen', 'key', 'class'],
    devices.map((device) => [
      device.name ?? '-',
      String(device.records),
      device.lastSeen?.slice(0, 10) ?? '-',
      device.key + (device.here ? ' (this machine)' : ''),
      device.class ?? '-',
    ]),
    page,
  );
