// `iree-tuned revoke` and `iree-tuned restore`: records that are not read any more, here and by the team, and the way back.
import type { Command as Program } from 'commander';
import type { RevocationLine } from '../store/exchange/lines.ts';
import { userName } from '../store/author.ts';
import { UserError } from '../system/user-error.ts';
import { COMMAND_LIMIT_MS, valueOf, withConnection, withTeam } from './team.ts';
import { openWholeDatabase, surroundingsOf, UsageError } from './context.ts';
import { say } from './output.ts';

const SCOPES = ['record', 'tool', 'origin'] as const;

interface Revoked {
  readonly record?: string;
  readonly tool?: string;
  readonly origin?: string;
  readonly json?: boolean;
}

/** @throws UsageError unless one option says it */
function revokedBy(options: Revoked): Pick<RevocationLine, 'scope' | 'value'> {
  const given = SCOPES.filter((scope) => options[scope] !== undefined);
  const [scope] = given;
  if (scope === undefined || given.length > 1)
    throw new UsageError(`say one of ${SCOPES.map((name) => `--${name}`).join(', ')}`);
  return { scope, value: options[scope]! };
}

export async function revoke(
  options: Revoked & { readonly reason: string },
  program: Program,
): Promise<void> {
  const { scope, value } = revokedBy(options);
  const surroundings = surroundingsOf(program);
  const revocation: RevocationLine = {
    type: 'revocation',
    version: 1,
    scope,
    value,
    reason: options.reason,
    createdAt: new Date().toISOString(),
    createdBy: userName(),
  };
  // If the server refuses, nothing is revoked here either.
  const there =
    surroundings.settings.team === undefined
      ? null
      : await withTeam(surroundings, async (team) =>
          valueOf(await team.revoke(revocation, COMMAND_LIMIT_MS)),
        );
  const local = openWholeDatabase(surroundings);
  local.receive([{ outcome: 'line', line: revocation }], there === null ? 'file' : 'team');
  local.close();
  if (options.json === true) {
    console.log(JSON.stringify({ scope, value, team: there }, null, 2));
    return;
  }
  const everywhere =
    there === null
      ? 'here; no team is set, so others get it by iree-tuned export, merge or sync'
      : `here and by the team, where ${there.revoked} claims are revoked now`;
  say(`${scope} ${value} is not read any more, ${everywhere}.`);
}

export async function restore(options: Revoked, program: Program): Promise<void> {
  const revocation = revokedBy(options);
  const { scope, value } = revocation;
  const surroundings = surroundingsOf(program);
  const { team } = surroundings.settings;
  const there =
    team === undefined
      ? null
      : await withConnection(surroundings, async (connection) => {
          const [login] = await connection.query(
            `SELECT has_function_privilege('iree_tuned.restore(text,text)', 'EXECUTE') AS may`,
            [],
            COMMAND_LIMIT_MS,
          );
          if (!(login as { may: boolean }).may) return null;
          const text = 'SELECT iree_tuned.restore($1, $2) AS restored';
          const [row] = await connection.query(text, [scope, value], COMMAND_LIMIT_MS);
          return (row as { restored: boolean }).restored;
        });
  const local = openWholeDatabase(surroundings);
  const here = local.restore(revocation);
  local.close();
  if (!here && there !== true) throw new UserError(`${scope} ${value} is not revoked`);
  if (options.json === true) console.log(JSON.stringify({ scope, value, here, team: there }, null, 2));
  else say(`${scope} ${value} is read again${there === true ? ', here and by the team' : ' here'}.`);
}
