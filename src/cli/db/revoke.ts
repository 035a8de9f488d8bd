// `iree-tuned db revoke`
import { userName } from '../../store/author.ts';
import type { RevocationLine } from '../../store/exchange/lines.ts';
import { CliCommand } from '../command.ts';
import { openWholeDatabase, surroundingsOf, UsageError } from '../context.ts';
import { sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, valueOf, withTeam } from '../team/server.ts';

const SCOPES = ['record', 'tool', 'origin'] as const;

/** The claims of a revocation: exactly one is set. */
export interface ScopeOptions {
  readonly record?: string;
  readonly tool?: string;
  readonly origin?: string;
}

/** Adds the options of `ScopeOptions`. */
export const withScope = (command: CliCommand): CliCommand =>
  command
    .option('--record <digest>', 'one claim, by its digest')
    .option('--tool <version>', 'all claims of a version of iree-compile-tuned')
    .option('--origin <name>', 'all claims of a user, a machine or user@machine');

/** @throws UsageError unless exactly one scope is set */
export function scopeOf(options: ScopeOptions): Pick<RevocationLine, 'scope' | 'value'> {
  const [scope, ...others] = SCOPES.filter((name) => options[name] !== undefined);
  if (scope === undefined || others.length > 0)
    throw new UsageError(`exactly one of ${SCOPES.map((name) => `--${name}`).join(', ')} is needed`);
  return { scope, value: options[scope]! };
}

export const revoke = withScope(
  new CliCommand('revoke', 'revoke claims here and for the team: no build uses them'),
)
  .requiredOption('--reason <text>', 'reason, shown to others')
  .json()
  .examples(
    ['iree-tuned db revoke --tool 0.1.0 --reason "wrong timer"', 'all claims of a version'],
    ['iree-tuned db revoke --origin ada@build7 --reason "broken fan"', 'claims of a user on one machine'],
  )
  .action(async (options: ScopeOptions & { readonly reason: string }, command: CliCommand) => {
    const { scope, value } = scopeOf(options);
    const surroundings = surroundingsOf(command);
    const line: RevocationLine = {
      ...{ type: 'revocation', version: 1, scope, value, reason: options.reason },
      ...{ createdAt: new Date().toISOString(), createdBy: userName() },
    };
    // The server comes first: if it refuses, nothing is revoked here.
    const there =
      surroundings.settings.team === undefined
        ? null
        : await withTeam(surroundings, async (team) => valueOf(await team.revoke(line, COMMAND_LIMIT_MS)));
    const local = openWholeDatabase(surroundings);
    local.receive([{ outcome: 'line', line }], there === null ? 'file' : 'team');
    local.close();
    const where =
      there === null
        ? 'here; no team is set, so others get the revocation by iree-tuned db export and import'
        : `here and for the team, with ${there.revoked} claims there`;
    command.print({ scope, value, team: there }, () => sentences(`${scope} ${value} is revoked ${where}.`));
  });
