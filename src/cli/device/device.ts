// `iree-tuned device`
import { CliCommand } from '../command.ts';
import { ls } from './ls.ts';
import { name } from './name.ts';

export const device = new CliCommand('device', 'list and name the devices of the tuning database').examples(
  ['iree-tuned device ls', 'all devices'],
  ['iree-tuned device name prod-zen4', 'name this machine'],
);
for (const command of [ls, name]) device.addCommand(command);
