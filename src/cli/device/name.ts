// `iree-tuned device name`
import { deviceKey, storedDevice } from '../../backend/device.ts';
import { devicesLike } from '../../decision/for-device.ts';
import type { KnownDevice } from '../../store/store.ts';
import { isDeviceName } from '../../store/validate.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { describeDeviceHere, openDatabase, surroundingsOf, UsageError } from '../context.ts';
import { sentences } from '../output.ts';
import { listedDevices } from './ls.ts';

export const name = new CliCommand(
  'name',
  'name a device, so that builds with for-device=NAME use its records',
)
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
    const surroundings = surroundingsOf(command);
    const found = await describeDeviceHere(surroundings);
    if (typeof found === 'string' && text === undefined) throw new UserError(found);
    const form = typeof found === 'string' ? null : storedDevice(found);
    const here = form && { key: deviceKey(form), form };
    const store = await openDatabase(surroundings);
    const device = text === undefined ? here! : oneDevice(text, store.devices());
    const before = store.devices().find((one) => one.name === wanted);
    store.nameDevice(wanted, device);
    const named = store.devices().filter(({ key }) => key === device.key);
    const listed = listedDevices(named, here?.key ?? null, store);
    store.close();
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
