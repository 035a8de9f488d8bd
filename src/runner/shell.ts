// Ways to another machine. Each is the command line of a program here that runs a script of the shell there, passes stdin, stdout and stderr on,
// and ends with its exit code. Messages tell why a machine is out of reach.
import { join } from 'node:path';
import { lastLine } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import type { Address } from './address.ts';

/**
 * @param folder of the runner here
 * @param isSession whether all others run over the connection of this one, if the way has connections
 */
export function shellCommand(
  address: Address,
  folder: string,
  script: string,
  isSession = false,
): readonly string[] {
  switch (address.kind) {
    case 'ssh':
      return ['ssh', ...SSH_OPTIONS, ...shared(folder, isSession), ...hostOf(address), script];
    case 'adb':
      return [...adb(address), 'shell', '-T', script];
    case 'command':
      return [...address.words, 'sh', '-c', script];
  }
}

/** A question would hang a build. A link without an answer ends after 15 seconds. */
const SSH_OPTIONS = [
  ...['-T', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10'],
  ...['-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'],
];

/** Longest path of a socket that ssh makes, with the suffix that it adds for a moment. */
const LONGEST_SOCKET = 88;

/** Options for one connection for all commands. In a folder with a long path, each has its own. */
function shared(folder: string, isSession: boolean): readonly string[] {
  const socket = join(folder, 'ssh');
  if (socket.length > LONGEST_SOCKET) return [];
  return ['-S', socket, '-o', `ControlMaster=${isSession ? 'yes' : 'no'}`, '-o', 'ControlPersist=no'];
}

const hostOf = ({ host, port }: Extract<Address, { kind: 'ssh' }>): readonly string[] => [
  ...(port === null ? [] : ['-p', port]),
  ...['--', host],
];

const adb = ({ serial }: Extract<Address, { kind: 'adb' }>): readonly string[] => [
  'adb',
  ...(serial === null ? [] : ['-s', serial]),
];

/** Why ssh or adb did not reach the machine, with the way out, from its messages. */
export function unreachable(text: string, address: Address, messages: string): string {
  const said = lastLine(messages);
  const why = `${text} does not answer${said === '' ? '' : ` (${said})`}`;
  if (address.kind !== 'ssh') return why;
  const host = hostOf(address).join(' ');
  if (/host key verification failed/i.test(messages))
    return `${why}: its key is not known here; look at it and accept it with ssh ${host} true`;
  if (/permission denied/i.test(messages))
    return `${why}: no key of yours is accepted there; ssh-copy-id ${host} adds one`;
  return `${why}: ssh ${host} true shows more`;
}

/** The machine of a runner is out of reach, which says nothing about the module that it should have run. */
export class UnreachableError extends UserError {
  override readonly name = 'UnreachableError';
}

/** A program in place of a tool tells so by this exit code and this text. */
export const BROKEN_CODE = 74;

export const BROKEN_TEXT = 'iree-tuned: ';

/** The reason; null if the tool itself has ended so. */
export function brokenLink(code: number | null, stderr: string): string | null {
  const at = code === BROKEN_CODE ? stderr.lastIndexOf(BROKEN_TEXT) : -1;
  return at < 0 ? null : stderr.slice(at + BROKEN_TEXT.length).trim();
}
