// An OpenSSH server for tests, on a free port of this machine, for this user with a key of its own. A program `ssh` in front of the real one knows it.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killTree } from '../../src/system/process-tree.ts';
import { temporaryDirectory } from './folders.ts';
import { program } from './scripts.ts';
import { slowLink } from './slow-link.ts';

const SERVER = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find(existsSync) ?? null;

/** Why no server can start here; null if one can. */
export const whyNoSsh: string | null =
  SERVER === null ? 'no OpenSSH server is installed (apt install openssh-server)' : null;

export interface SshServer {
  /** The value of the setting `runner`. */
  readonly address: string;
  /** The path to search for programs, which has the `ssh` that knows the server. */
  readonly path: string;
  /** Ends the server with all processes of its users, as a loss of power does. */
  readonly stop: () => void;
  readonly start: () => Promise<void>;
  /** Ends the connections. */
  readonly breakLink: () => void;
  /** Ends everything. */
  readonly close: () => void;
}

export interface Options {
  /** Command of a shell that runs `$SSH_ORIGINAL_COMMAND` in place of the user's shell. */
  readonly enter?: string;
  /** Delay of each direction of the link, in milliseconds. */
  readonly delayMs?: number;
}

/** Starts a server. @param temporary folder for the temporary files of its users */
export async function sshServer(temporary: string, { enter, delayMs = 0 }: Options = {}): Promise<SshServer> {
  const folder = temporaryDirectory();
  // Not the user's own: bash reads its settings there at each command of an SSH client.
  const home = join(temporary, 'home');
  mkdirSync(home);
  const at = (name: string) => join(folder, name);
  for (const key of ['host', 'own'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  copyFileSync(at('own.pub'), at('authorized'));
  chmodSync(at('authorized'), 0o600);
  const port = await freePort();
  const link = await slowLink(port, delayMs);
  writeFileSync(
    at('server'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${at('host')}
PidFile none
AuthorizedKeysFile ${at('authorized')}
StrictModes no
UsePAM no
PasswordAuthentication no
SetEnv TMPDIR=${temporary} HOME=${home}
${enter === undefined ? '' : `ForceCommand ${enter}\n`}`,
  );
  writeFileSync(
    at('client'),
    `Host board
  HostName 127.0.0.1
  Port ${link.port}
  User ${userInfo().username}
  IdentityFile ${at('own')}
  IdentitiesOnly yes
  UserKnownHostsFile ${at('known')}
  StrictHostKeyChecking accept-new
`,
  );
  const real = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  program(at('bin/ssh'), `exec ${real} -F ${at('client')} "$@"`);
  // As root, the server wants this folder.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  let server: ChildProcess | undefined;
  const start = async () => {
    server = spawn(SERVER!, ['-D', '-f', at('server'), '-E', at('log')], { stdio: 'ignore', detached: true });
    while (!(await answers(port))) await sleep(20);
  };
  const stop = () => {
    if (server?.pid !== undefined) killTree(server.pid);
    server = undefined;
  };
  await start();
  return {
    address: 'ssh://board',
    path: `${at('bin')}:${process.env['PATH'] ?? ''}`,
    start,
    stop,
    breakLink: link.break,
    close: () => {
      stop();
      link.close();
    },
  };
}

/** Whether something listens on a port. */
export const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
