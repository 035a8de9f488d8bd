// Runs commands that another process sends, in order (see commands.ts). After each command it writes a zero byte to stdout and stderr;
// on stdout the exit code and another zero byte follow.
import { writeSync } from 'node:fs';
import { main } from '../../src/cli/iree-tuned.ts';
import type { Command } from './commands.ts';

/** Thrown by `process.exit`. */
class Exit extends Error {}

process.exit = (code) => {
  if (code !== undefined) process.exitCode = code;
  throw new Exit();
};

process.on('message', (command: Command) => {
  void run(command);
});

async function run({ words, cwd, env }: Command): Promise<void> {
  process.argv = ['node', 'iree-tuned', ...words];
  process.exitCode = undefined;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Exit)) {
      process.exitCode = 1;
      console.error(error);
    }
  }
  process.stdout.removeAllListeners('error');
  process.stdout.write(`\0${process.exitCode ?? 0}\0`);
  writeSync(2, '\0');
}
