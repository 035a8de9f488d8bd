// The command line `iree-tuned`.
import { CommanderError } from 'commander';
import { loadBackends } from '../backend/index.ts';
import { packageVersion } from '../system/package-root.ts';
import { cache } from './cache.ts';
import { CliCommand } from './command.ts';
import { compare } from './compare.ts';
import { config } from './config.ts';
import { db } from './db/db.ts';
import { device } from './device.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { exitCodeOf, messageForUser, USAGE_EXIT_CODE } from './failure.ts';
import { lock } from './lock.ts';
import { warn } from './output.ts';
import { profile } from './profile.ts';
import { report } from './report.ts';
import { shim } from './shim/shim.ts';
import { spec } from './spec.ts';
import { stats } from './stats.ts';
import { team } from './team/team.ts';
import { tune } from './tune/tune.ts';
import { which } from './which.ts';

const GROUPS: Readonly<Record<string, readonly CliCommand[]>> = {
  'Tuning:': [tune, explain, profile, compare],
  'Builds:': [lock, spec, shim, cache, stats, which],
  'Records:': [db, device, report, team],
  'Set-up:': [doctor, config],
};

class Program extends CliCommand {
  override parseAsync(words: readonly string[]): Promise<this> {
    const end = words.indexOf('--');
    this.compilerFlags = end < 0 ? [] : words.slice(end + 1);
    return super.parseAsync(end < 0 ? words : words.slice(0, end), { from: 'user' });
  }
}

export const program = new Program(
  'iree-tuned',
  'Tunes programs for iree-compile-tuned, and manages the tuning database.',
)
  .version(packageVersion(), '--version')
  .option('--db <path>', 'tuning database (default: IREE_TUNED_DB, else a file in the user data directory)')
  .option(
    '--compiler <path>',
    'iree-compile to use (default: IREE_TUNED_COMPILER, else from IREE_TOOL_PATH, PATH or .venv)',
  )
  .option(
    '--device <device>',
    "runtime device to measure on (default: IREE_TUNED_DEVICE, else the target's own)",
  )
  .option('--team <base>', "folder or URL of the team's base (default: IREE_TUNED_TEAM)")
  .hook('preAction', (_, command) => {
    if (command instanceof CliCommand && command.flags.length > 0 && !command.takesFlags)
      command.error(`error: ${command.path} takes no compiler flags after --`);
  })
  .addHelpText(
    'after',
    `
Exit codes:
  0  success
  1  failure, or a negative answer: a failed check, something missing or refused
  2  invalid command line or setting; nothing was done`,
  )
  .examples(
    ['iree-tuned tune model.mlir --budget 5m', 'ahead of the build'],
    ['iree-tuned explain model.mlir', 'decisions of a build, with reasons'],
    ['iree-tuned doctor', 'problems of this machine, with fixes'],
  );
for (const [group, commands] of Object.entries(GROUPS)) {
  program.commandsGroup(group);
  for (const command of commands) program.addCommand(command);
}

/** Runs the command of the process's arguments. Rejects with bugs only. */
export async function main(): Promise<void> {
  // console.log ignores a full disk and a closed pipe.
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // Such as `head`, which has read enough.
    if (code === 'EPIPE') process.exit(1);
    end(`the output cannot be written: ${message}`, 1);
  });
  try {
    // Records may belong to any target.
    await loadBackends();
    await program.parseAsync(process.argv.slice(2));
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : USAGE_EXIT_CODE);
    const message = messageForUser(error);
    if (message === null) throw error;
    end(message, exitCodeOf(error));
  }
}

function end(message: string, code: number): never {
  warn(message);
  process.exit(code);
}
