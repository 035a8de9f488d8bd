// `iree-tuned team migrate`, `roles`, `block` and `unblock`: the commands of an administrator.
import { queueDatabase } from '../../fleet/database.ts';
import type { RevocationLine } from '../../store/exchange/lines.ts';
import { UserError } from '../../system/user-error.ts';
import { migrateTeam } from '../../team/migrate.ts';
import { passwordFor } from '../../team/password-file.ts';
import { ROLES, ROLES_SQL } from '../../team/roles.ts';
import { CliCommand } from '../command.ts';
import { sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, withConnection } from './server.ts';

export const migrate = new CliCommand('migrate', 'create or update the tables and functions of the server')
  .json()
  .examples(['iree-tuned team migrate', 'prints the schema version before and after'])
  .action(async (_, command: CliCommand) => {
    const { installQueue } = await import('../../fleet/install.ts');
    const surroundings = command.surroundings();
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
      await withConnection(command.surroundings(), (connection) =>
        connection.query(ROLES_SQL, [], COMMAND_LIMIT_MS),
      );
    const names = ROLES.map(({ name }) => name);
    command.print({ roles: ROLES, sql: ROLES_SQL, applied: apply }, () =>
      apply
        ? sentences(`The roles exist: ${names.join(', ')}. To add a user: GRANT ${names[0]!} TO user;`)
        : ROLES_SQL.trimEnd(),
    );
  });

interface Blocked {
  /** Removed claims. */
  readonly removed: number;
  /** Origins that no other login has named. */
  readonly origins: readonly string[];
  /** Withdrawn revocations. */
  readonly revocations: readonly Pick<RevocationLine, 'scope' | 'value'>[];
}

export const block = new CliCommand(
  'block',
  'remove all claims of a login from the server, and refuse new ones',
)
  .argument('<login>', 'login of the server')
  .json()
  .examples(['iree-tuned team block bob', 'remove the claims of bob'])
  .action(async (login: string, _, command: CliCommand) => {
    await withConnection(command.surroundings(), async (connection, { shown }) => {
      const ask = async <T>(text: string) =>
        (await connection.query(text, [login], COMMAND_LIMIT_MS)) as readonly T[];
      const origins = await ask<{ origin: string }>(
        `SELECT DISTINCT person || '@' || machine AS origin FROM iree_tuned.origin AS own
         WHERE login = $1 AND person <> '' AND NOT EXISTS (
           SELECT FROM iree_tuned.origin AS o WHERE o.login <> $1 AND (o.person, o.machine) = (own.person, own.machine))
         ORDER BY origin`,
      );
      const revocations = await ask<Blocked['revocations'][number]>(
        'SELECT scope, value FROM iree_tuned.revocation WHERE login = $1 ORDER BY scope, value',
      );
      const [row] = await ask<{ removed: string }>('SELECT iree_tuned.distrust($1) AS removed');
      const result: Blocked = {
        removed: Number(row!.removed),
        origins: origins.map(({ origin }) => origin),
        revocations,
      };
      command.print({ server: shown, login, ...result }, () => sentences(...linesOf(login, result)));
    });
  });

const linesOf = (login: string, { removed, origins, revocations }: Blocked): string[] => [
  `${login} is blocked: the server has removed ${removed} claims, and refuses new ones.`,
  'The next syncs of other logins push their own copies again.',
  ...(origins.length === 0
    ? []
    : [
        'Databases that pulled these claims need a revocation:',
        ...origins.map((origin) => `  iree-tuned db revoke --origin ${quoted(origin)} --reason ...`),
      ]),
  ...(revocations.length === 0
    ? []
    : [
        `The server has withdrawn the revocations of ${login}. Databases that pulled them withdraw them by:`,
        ...revocations.map(({ scope, value }) => `  iree-tuned db restore --${scope} ${quoted(value)}`),
      ]),
];

/** A shell word without control characters, which the writer of a line chooses. */
const quoted = (text: string) => `'${text.replaceAll(/\p{C}/gu, '?').replaceAll("'", String.raw`'\''`)}'`;

export const unblock = new CliCommand('unblock', 'accept claims of a blocked login again')
  .argument('<login>', 'login of the server')
  .json()
  .examples(['iree-tuned team unblock bob', 'the next sync of bob pushes its claims'])
  .action(async (login: string, _, command: CliCommand) => {
    await withConnection(command.surroundings(), async (connection, { shown }) => {
      const text = 'SELECT iree_tuned.trust($1) AS trusted';
      const [row] = await connection.query(text, [login], COMMAND_LIMIT_MS);
      if (!(row as { trusted: boolean }).trusted) throw new UserError(`${login} is not blocked by ${shown}`);
      command.print({ server: shown, login }, () =>
        sentences(`${login} is unblocked; its next sync pushes its claims again.`),
      );
    });
  });
