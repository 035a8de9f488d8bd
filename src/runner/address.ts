// Where programs run that another machine compiles: the setting `runner`, and the processors there: `runner-cpus`. Boards have fast and slow ones.
import { numbersOf } from '../system/processor.ts';

/**
 * `ssh`: a machine with an OpenSSH server. `adb`: an Android device. `command`: a program that runs the command line in its arguments, and sees the
 * files of this machine, such as an emulator or `srun`.
 */
export type Address =
  | { readonly kind: 'ssh'; readonly host: string; readonly port: string | null }
  | { readonly kind: 'adb'; readonly serial: string | null }
  | { readonly kind: 'command'; readonly words: readonly string[] };

/** A user, a host or a serial number. None begins with a dash, which would make an option of it. */
const NAME = String.raw`[A-Za-z0-9_][\w.-]*`;
const SSH = new RegExp(`^ssh://((?:${NAME}@)?(?:${NAME}|\\[[0-9A-Fa-f:]+\\]))(?::(\\d{1,5}))?/?$`);
const ADB = new RegExp(`^adb://((?:${NAME})(?::\\d{1,5})?)?/?$`);

/** The address in a text such as `ssh://pi@board`, `adb://serial` or `qemu-aarch64 -L /root`; undefined for an invalid one. */
export function readAddress(text: string): Address | undefined {
  if (/^\w+:\/\//.test(text)) {
    const ssh = SSH.exec(text);
    if (ssh !== null) return { kind: 'ssh', host: ssh[1]!.replace(/\[|\]/g, ''), port: ssh[2] ?? null };
    const adb = ADB.exec(text);
    return adb === null ? undefined : { kind: 'adb', serial: adb[1] ?? null };
  }
  const words = text.split(' ').filter((word) => word !== '');
  return words.length === 0 ? undefined : { kind: 'command', words };
}

/** Most processors of a machine. */
const MOST = 4096;

/** Whether a text is a list such as `4-7` or `0,2`. */
export const isCpuList = (text: string): boolean =>
  /^\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*$/.test(text) &&
  numbersOf(text).every((cpu) => cpu < MOST) &&
  numbersOf(text).length > 0;

/** Words before a command line that runs on these processors only. All versions of `taskset`, Android's too, take a mask in hexadecimal digits. */
export function pinned(cpus: string | null): readonly string[] {
  if (cpus === null) return [];
  const mask = numbersOf(cpus).reduce((bits, cpu) => bits | (1n << BigInt(cpu)), 0n);
  return ['taskset', mask.toString(16)];
}
