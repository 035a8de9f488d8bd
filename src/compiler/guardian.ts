// Nothing that we start outlives us. SIGKILL leaves a process no time to end its children, so a shell waits for that:
// it reads from a pipe that only we hold, and the end of the pipe is our end.

export interface Guardian {
  /** Kills this process, or the group of it when negative, should we end before it. */
  watch(child: number): void;
  /** It has ended by itself. */
  dismiss(): void;
}

const SCRIPT = 'read -r child && { read -r dismissed || kill -KILL "$child"; }';

/** To be called just before a child is started: then hardly anything lies between its start and `watch`. */
export function startGuardian(): Guardian {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    // A session of its own: what is sent to our group must not end it before it has done its work.
    detached: true,
    // Nothing of the caller's is kept open.
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: {},
  });
  // Without a shell nobody watches, and everything else goes on.
  shell.on('error', () => undefined);
  const pipe = shell.stdin;
  pipe.on('error', () => undefined);
  shell.unref();
  return {
    watch(child) {
      pipe.write(`${child}\n`);
    },
    dismiss() {
      pipe.end('\n');
    },
  };
}
