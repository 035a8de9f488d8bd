// `iree-tuned device ls`
import { deviceClass, deviceKey } from '../../backend/device.ts';
import { devicesLike } from '../../decision/for-device.ts';
import { table } from '../../report/table.ts';
import type { KnownDevice, Store } from '../../store/store.ts';
import { CliCommand } from '../command.ts';
import { describeDeviceHere, openToRead, surroundingsOf } from '../context.ts';
import { page, sentences } from '../output.ts';

export const ls = new CliCommand('ls', 'list the devices of the database')
  .argument('[device]', 'only devices with this name or class, or whose key contains the text')
  .json()
  .examples(['iree-tuned device ls', 'all devices'], ['iree-tuned device ls zen4', 'devices like zen4'])
  .action(async (text: string | undefined, _, command: CliCommand) => {
    const surroundings = surroundingsOf(command);
    const form = await describeDeviceHere(surroundings);
    const here = typeof form === 'string' ? null : deviceKey(form);
    const store = await openToRead(surroundings);
    const known = store.devices();
    const listed = listedDevices(text === undefined ? known : devicesLike(text, known), here, store);
    store.close();
    command.print(listed, () =>
      listed.length === 0
        ? sentences(
            `No devices${text === undefined ? '' : ` like "${text}"`} in ${surroundings.settings.database}.`,
          )
        : table(
            ['name', 'records', 'last seen', 'key', 'class'],
            listed.map((device) => [
              device.name ?? '-',
              String(device.records),
              device.lastSeen?.slice(0, 10) ?? '-',
              device.key + (device.here ? ' (this machine)' : ''),
              device.class ?? '-',
            ]),
            page,
          ),
    );
  });

/**
 * Devices of a listing. `lastSeen` is the time of the newest record, ISO 8601 UTC; null without records.
 * @param here key of this machine's device, with the driver of the setting; null if it is not found
 */
export function listedDevices(devices: readonly KnownDevice[], here: string | null, store: Store) {
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
