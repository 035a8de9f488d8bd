// Where programs run that another machine compiles: the setting `runner`.

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
