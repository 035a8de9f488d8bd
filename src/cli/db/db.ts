// `iree-tuned db`
import { CliCommand } from '../command.ts';
import { exportCommand, importCommand } from './exchange.ts';
import { ls, show } from './records.ts';
import { prune } from './prune.ts';
import { regressions } from './regressions.ts';
import { restore, revoke } from './revoke.ts';
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
  ...[ls, show, verify, regressions],
  ...[exportCommand, importCommand, prune, revoke, restore],
])
  db.addCommand(command);
