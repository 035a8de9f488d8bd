// Runs a program on a terminal with a given number of columns, by util-linux's script(1).
import { spawn, spawnSync } from 'node:child_process';

/** Why tests cannot use a terminal; null if they can. BSD's script(1) takes no command. */
export const noTerminals =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { input: '' }).status === 0
    ? null
    : "util-linux's script(1) is not installed";

const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Runs a program. @returns its exit code, and its stdout and stderr together */
export function onTerminal(
  columns: number,
  argv: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  /** Redirections in shell syntax. */
  more = '',
): Promise<{ code: number | null; text: string }> {
  const command = `stty cols ${columns}; ${argv.map(quote).join(' ')} ${more}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, text: text.replaceAll('\r\n', '\n') });
    });
  });
}
