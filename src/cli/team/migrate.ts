// `iree-tuned team migrate`
import { queueDatabase } from '../../fleet/database.ts';
import { migrateTeam } from '../../team/migrate.ts';
import { passwordFor } from '../../team/password-file.ts';
import { CliCommand } from '../command.ts';
import { surroundingsOf } from '../context.ts';
import { sentences } from '../output.ts';
import { withConnection } from './server.ts';

export const migrate = new CliCommand('migrate', 'create or update the tables and functions of the server')
  .json()
  .examples(['iree-tuned team migrate', 'prints the schema version before and after'])
  .action(async (_, command: CliCommand) => {
    const { installQueue } = await import('../../fleet/install.ts');
    const surroundings = surroundingsOf(command);
    await withConnection(surroundings, async (connection, address) => {
      const { shown } = address;
      const { from, to } = await migrateTeam(connection);
      await installQueue(queueDatabase(address, passwordFor(address, surroundings.env), connection));
      command.print({ server: shown, from, to }, () =>
        sentences(
          from === to
            ? `${shown} has schema ${to} already.`
            : `${shown} has schema ${to} now${from === 0 ? '' : ` (before: ${from})`}.`,
        ),
      );
    });
  });
