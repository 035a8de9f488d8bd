// `iree-tuned revoke`: what is not to be read any more, here and, where there is one, by the whole team.
import type { Command as Program } from 'commander';
import type { RevocationLine } from '../store/exchange/lines.ts';
import { userName } from '../store/author.ts';
import { COMMAND_LIMIT_MS, valueOf, withTeam } from './team.ts';
import { openWholeDatabase, surroundingsOf, UsageError } from './context.ts';
import { say } from './output.ts';

const SCOPES = ['record', 'tool', 'origin'] as const;

export async function revoke(
  options: { record?: string; tool?: string; origin?: string; reason: string; json?: boolean },
  program: Program,
): Promise<void> {
  const given = SCOPES.filter((scope) => options[scope] !== undefined);
  const [scope] = given;
  if (scope === undefined || given.length > 1)
    throw new UsageError(`say one of ${SCOPES.map((name) => `--${name}`).join(', ')}`);
  const surroundings = surroundingsOf(program);
  const revocation: RevocationLine = {
    type: 'revocation',
    version: 1,
    scope,
    value: options[scope]!,
    reason: options.reason,
    createdAt: new Date().toISOString(),
    createdBy: userName(),
  };
  // Who is not let in there has not revoked anything here either.
  const there =
    surroundings.settings.team === undefined
      ? null
      : await withTeam(surroundings, async (team) =>
          valueOf(await team.revoke(revocation, COMMAND_LIMIT_MS)),
        );
  const local = openWholeDatabase(surroundings);
  local.receive([{ outcome: 'line', line: revocation }], there === null ? 'file' : 'team');
  local.close();
  const { value } = revocation;
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
