// `iree-tuned team block` and `iree-tuned team unblock`
import type { RevocationLine } from '../../store/exchange/lines.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { surroundingsOf } from '../context.ts';
import { sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, withConnection } from './server.ts';

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
    await withConnection(surroundingsOf(command), async (connection, { shown }) => {
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
    await withConnection(surroundingsOf(command), async (connection, { shown }) => {
      const text = 'SELECT iree_tuned.trust($1) AS trusted';
      const [row] = await connection.query(text, [login], COMMAND_LIMIT_MS);
      if (!(row as { trusted: boolean }).trusted) throw new UserError(`${login} is not blocked by ${shown}`);
      command.print({ server: shown, login }, () =>
        sentences(`${login} is unblocked; its next sync pushes its claims again.`),
      );
    });
  });
