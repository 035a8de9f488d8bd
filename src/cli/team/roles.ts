// `iree-tuned team roles`
import { ROLES, ROLES_SQL } from '../../team/roles.ts';
import { CliCommand } from '../command.ts';
import { surroundingsOf } from '../context.ts';
import { sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, withConnection } from './server.ts';

export const roles = new CliCommand(
  'roles',
  'print the SQL that creates the roles of readers, writers, workers and administrators',
)
  .option('--apply', 'run the SQL (default: print it)')
  .json()
  .examples(
    ['iree-tuned team roles', 'print the SQL'],
    ['iree-tuned team roles --apply', 'run the SQL as the superuser'],
  )
  .action(async ({ apply = false }: { apply?: boolean }, command: CliCommand) => {
    if (apply)
      await withConnection(surroundingsOf(command), (connection) =>
        connection.query(ROLES_SQL, [], COMMAND_LIMIT_MS),
      );
    const names = ROLES.map(({ name }) => name);
    command.print({ roles: ROLES, sql: ROLES_SQL, applied: apply }, () =>
      apply
        ? sentences(`The roles exist: ${names.join(', ')}. To add a user: GRANT ${names[0]!} TO user;`)
        : ROLES_SQL.trimEnd(),
    );
  });
