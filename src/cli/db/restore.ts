// `iree-tuned db restore`
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { openWholeDatabase, surroundingsOf, UsageError } from '../context.ts';
import { sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, withConnection } from '../team/server.ts';
import { liftMarks } from './marks.ts';
import { scopeOf, withScope, type ScopeOptions } from './revoke.ts';

interface Options extends ScopeOptions {
  readonly marks?: string;
  readonly configuration?: string;
  readonly reason?: string;
}

export const restore = withScope(
  new CliCommand('restore', 'withdraw a revocation or lift marks, here and for the team'),
)
  .option(
    '--marks <workload>',
    'lift the marks of failed configurations, of workloads whose key contains the text',
  )
  .option(
    '--configuration <key>',
    'with --marks: only marks of this configuration, as iree-tuned db ls prints it',
  )
  .filters('target', 'compiler', 'device')
  .option('--reason <text>', 'with --marks: reason, shown to others')
  .json()
  .examples(
    ['iree-tuned db restore --origin ada@build7', 'use the claims of a user again'],
    ['iree-tuned db restore --marks "m=512 n=512" --reason "compiler fixed"', 'all marks of a workload'],
    ['iree-tuned db restore --marks m=512 --for-target znver4 --reason "fan fixed"', 'marks of one target'],
  )
  .action(async (options: Options, command: CliCommand) => {
    const { marks, configuration, reason } = options;
    if (marks !== undefined) {
      if (reason === undefined) throw new UsageError('--marks needs --reason TEXT');
      await liftMarks({ ...command.filter, workload: marks }, configuration, reason, command);
      return;
    }
    const revocation = scopeOf(options);
    const { scope, value } = revocation;
    const surroundings = surroundingsOf(command);
    const there =
      surroundings.settings.team === undefined
        ? null
        : await withConnection(surroundings, async (connection) => {
            const ask = async (text: string, parameters: readonly string[]) =>
              (await connection.query(text, parameters, COMMAND_LIMIT_MS))[0] as { answer: boolean };
            const mayRestore = `SELECT has_function_privilege('iree_tuned.restore(text,text)', 'EXECUTE') AS answer`;
            if (!(await ask(mayRestore, [])).answer) return null;
            return (await ask('SELECT iree_tuned.restore($1, $2) AS answer', [scope, value])).answer;
          });
    const local = openWholeDatabase(surroundings);
    const here = local.restore(revocation);
    local.close();
    if (!here && there !== true) throw new UserError(`${scope} ${value} is not revoked`);
    const where = there === true ? 'here and for the team' : 'here';
    command.print({ scope, value, here, team: there }, () =>
      sentences(`The revocation of ${scope} ${value} is withdrawn ${where}.`),
    );
  });
