// `iree-tuned db`
import { CliCommand } from '../command.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { ls } from './ls.ts';
import { prune } from './prune.ts';
import { regressions } from './regressions.ts';
import { restore } from './restore.ts';
import { revoke } from './revoke.ts';
import { show } from './show.ts';
import { trials } from './trials.ts';
import { verify } from './verify.ts';

export const db = new CliCommand(
  'db',
  'list, check, exchange and clean up the records of the tuning database',
).examples(
  ['iree-tuned db ls', 'all records'],
  ['iree-tuned db verify', 'measure the gains of this machine again'],
  ['iree-tuned db export tuning.jsonl', 'a copy for another machine'],
);
for (const command of [
  ...[ls, show, trials, verify, regressions],
  ...[exportCommand, importCommand, prune, revoke, restore],
])
  db.addCommand(command);
