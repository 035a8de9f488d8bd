// `iree-tuned device`: lists and names the devices of the database, and of the team's bases.
import { withInstalled } from '../base/open.ts';
import { deviceClass, deviceKey, storedDevice } from '../backend/device.ts';
import { devicesLike } from '../decision/for-device.ts';
import type { KnownDevice, Store } from '../store/store.ts';
import { isDeviceName } from '../store/validate.ts';
import { UserError } from '../system/user-error.ts';
import { CliCommand } from './command.ts';
import { missingDatabase, openDatabase, openIfThere } from './database.ts';
import { UsageError } from './failure.ts';
import { describeDeviceHere } from './input.ts';
import { sentences } from './output.ts';

const ls = new CliCommand('ls', 'list the devices of the database')
  .argument('[device]', 'only devices with this name or class, or whose key contains the text')
  .json()
  .examples(['iree-tuned device ls', 'all devices'], ['iree-tuned device ls zen4', 'devices like zen4'])
  .action(async (text: string | undefined, _, command: CliCommand) => {
    const surroundings = command.surroundings();
    const form = await describeDeviceHere(surroundings);
    const here = typeof form === 'string' ? null : deviceKey(form);
    using store = await withInstalled(await openIfThere(surroundings), surroundings);
    if (store === null) throw missingDatabase(surroundings);
    const known = store.devices();
    const listed = listedDevices(text === undefined ? known : devicesLike(text, known), here, store);
    command.printTable(
      listed,
      ['name', 'records', 'last seen', 'key', 'class'],
      listed.map((device) => [
        device.name ?? '-',
        String(device.records),
        device.lastSeen?.slice(0, 10) ?? '-',
        device.key + (device.here ? ' (this machine)' : ''),
        device.class ?? '-',
      ]),
      `No devices${text === undefined ? '' : ` like "${text}"`} in ${surroundings.settings.database}.`,
    );
  });

/**
 * Devices of a listing. `lastSeen` is the time of the newest record, ISO 8601 UTC; null without records.
 * @param here key of this machine's device, with the driver of the setting; null if it is not found
 */
function listedDevices(devices: readonly KnownDevice[], here: string | null, store: Store) {
  const records = store.allRecords();
  return devices.map(({ key, form, name }) => {
    // `allRecords` has the newest first.
    const own = records.filter(({ device }) => device === key);
    return {
      ...{ key, class: deviceClass(form), name, here: key === here },
      ...{ records: own.length, lastSeen: own[0]?.createdAt ?? null },
    };
  });
}

const name = new CliCommand('name', 'name a device, so that builds with for-device=NAME use its records')
  .argument('<name>', 'up to 64 letters, digits, dots, dashes and underscores')
  .argument('[device]', 'name, class or part of the key of one device (default: this machine)')
  .json()
  .examples(
    ['iree-tuned device name prod-zen4', 'this machine'],
    ['iree-tuned device name prod-zen4 "AMD EPYC 9654"', 'another device'],
  )
  .action(async (wanted: string, text: string | undefined, _, command: CliCommand) => {
    if (!isDeviceName(wanted))
      throw new UsageError(
        `${String(wanted)} is not a valid device name: use up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit`,
      );
    const surroundings = command.surroundings();
    const found = await describeDeviceHere(surroundings);
    if (typeof found === 'string' && text === undefined) throw new UserError(found);
    const form = typeof found === 'string' ? null : storedDevice(found);
    const here = form && { key: deviceKey(form), form };
    using store = await withInstalled(await openDatabase(surroundings), surroundings);
    const device = text === undefined ? here! : oneDevice(text, store.devices());
    const before = store.devices().find((one) => one.name === wanted);
    store.nameDevice(wanted, device);
    const named = store.devices().filter(({ key }) => key === device.key);
    const listed = listedDevices(named, here?.key ?? null, store);
    const isMoved = before !== undefined && before.key !== device.key;
    command.print(listed, () =>
      sentences(`${wanted} is now ${device.key}`, ...(isMoved ? [`${before.key} has lost its name`] : [])),
    );
  });

function oneDevice(text: string, known: readonly KnownDevice[]): KnownDevice {
  const found = devicesLike(text, known);
  const [device] = found;
  if (device === undefined)
    throw new UserError(`no device matches "${text}": iree-tuned device ls lists the devices`);
  if (found.length > 1)
    throw new UserError(
      `"${text}" matches ${found.length} devices: give more of the key:\n` +
        found.map(({ key }) => `  ${key}`).join('\n'),
    );
  return device;
}

export const device = new CliCommand('device', 'list and name the devices of the tuning database').examples(
  ['iree-tuned device ls', 'all devices'],
  ['iree-tuned device name prod-zen4', 'name this machine'],
);
for (const command of [ls, name]) device.addCommand(command);
