// `iree-tuned db revoke` and `restore`: revocations of claims and lifted marks, here and for the team.
import { configurationKey, configurationText } from '../../backend/index.ts';
import { table } from '../../report/table.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { ownOrigin, userName } from '../../store/author.ts';
import { isMarked, isRevoked, nextGeneration } from '../../store/claim.ts';
import type { Line, MarkLine, PartLine, RevocationLine } from '../../store/exchange/lines.ts';
import { readLine } from '../../store/exchange/read.ts';
import { type Filter, fits } from '../../store/filter.ts';
import { keysOf } from '../../store/subject.ts';
import { shortKey } from '../../system/format.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { exchanging } from '../database.ts';
import { UsageError } from '../failure.ts';
import { page, sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, valueOf, withConnection, withTeam } from '../team/server.ts';
import { filterText } from './records.ts';

const SCOPES = ['record', 'tool', 'origin'] as const;

/** The claims of a revocation: exactly one is set. */
interface ScopeOptions {
  readonly record?: string;
  readonly tool?: string;
  readonly origin?: string;
}

/** Adds the options of `ScopeOptions`. */
const withScope = (command: CliCommand): CliCommand =>
  command
    .option('--record <digest>', 'one claim, by its digest')
    .option('--tool <version>', 'all claims of a version of iree-compile-tuned')
    .option('--origin <name>', 'all claims of a user, a machine or user@machine');

/** @throws UsageError unless exactly one scope is set */
function scopeOf(options: ScopeOptions): Pick<RevocationLine, 'scope' | 'value'> {
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
    const surroundings = command.surroundings();
    const line: RevocationLine = {
      ...{ type: 'revocation', version: 1, scope, value, reason: options.reason },
      ...{ createdAt: new Date().toISOString(), createdBy: userName() },
    };
    // The server comes first: if it refuses, nothing is revoked here.
    const there =
      surroundings.settings.team === undefined
        ? null
        : await withTeam(surroundings, async (team) => valueOf(await team.revoke(line, COMMAND_LIMIT_MS)));
    await exchanging(surroundings, (local) =>
      local.receive([{ outcome: 'line', line }], there === null ? 'file' : 'team'),
    );
    const where =
      there === null
        ? 'here; no team is set, so others get the revocation by iree-tuned db export and import'
        : `here and for the team, with ${there.revoked} claims there`;
    command.print({ scope, value, team: there }, () => sentences(`${scope} ${value} is revoked ${where}.`));
  });

interface RestoreOptions extends ScopeOptions {
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
  .action(async (options: RestoreOptions, command: CliCommand) => {
    const { marks, configuration, reason } = options;
    if (marks !== undefined) {
      if (reason === undefined) throw new UsageError('--marks needs --reason TEXT');
      await liftMarks({ ...command.filter, workload: marks }, configuration, reason, command);
      return;
    }
    const revocation = scopeOf(options);
    const { scope, value } = revocation;
    const surroundings = command.surroundings();
    const there =
      surroundings.settings.team === undefined ? null : await restoreThere(revocation, surroundings);
    const here = await exchanging(surroundings, (local) => local.restore(revocation));
    if (!here && there !== true) throw new UserError(`${scope} ${value} is not revoked`);
    const where = there === true ? 'here and for the team' : 'here';
    command.print({ scope, value, here, team: there }, () =>
      sentences(`The revocation of ${scope} ${value} is withdrawn ${where}.`),
    );
  });

/** Withdraws a revocation on the server. @returns whether it existed; null without the right to withdraw it */
function restoreThere(
  { scope, value }: Pick<RevocationLine, 'scope' | 'value'>,
  surroundings: Surroundings,
): Promise<boolean | null> {
  return withConnection(surroundings, async (connection) => {
    const ask = async (text: string, parameters: readonly string[]) =>
      (await connection.query(text, parameters, COMMAND_LIMIT_MS))[0] as { answer: boolean };
    const mayRestore = `SELECT has_function_privilege('iree_tuned.restore(text,text)', 'EXECUTE') AS answer`;
    if (!(await ask(mayRestore, [])).answer) return null;
    return (await ask('SELECT iree_tuned.restore($1, $2) AS answer', [scope, value])).answer;
  });
}

/** All marks of one configuration of one subject. */
type MarksOfOne = readonly [MarkLine, ...MarkLine[]];

/**
 * Lifts marks of configurations, so that builds and searches use these configurations again.
 * @param configuration key of the only configuration; all when undefined
 * @throws UserError where nothing is marked
 */
export async function liftMarks(
  filter: Filter,
  configuration: string | undefined,
  reason: string,
  command: CliCommand,
): Promise<void> {
  const surroundings = command.surroundings();
  await exchanging(surroundings, async (local) => {
    const lines = readAll(local.lines({}, () => undefined));
    const marked = countingMarks(lines).filter(
      ([mark]) =>
        fits(mark, filter) &&
        (configuration === undefined || configurationKey(mark.configuration) === configuration),
    );
    if (marked.length === 0)
      throw new UserError(
        `no configuration has a mark${filterText(filter)}${configuration === undefined ? '' : ` with the configuration ${configuration}`}; ` +
          "iree-tuned team sync pulls the team's marks, and iree-tuned db export - prints all marks",
      );
    const lifted = marked.map((marks) => liftedMark(marks, reason));
    const isTold = surroundings.settings.team !== undefined;
    // The server comes first: if it refuses, nothing is lifted here.
    if (isTold)
      await withTeam(surroundings, async (team) => {
        const answer = await team.push([...partsOf(lifted, lines), ...lifted], COMMAND_LIMIT_MS);
        const [refused] = Object.keys(valueOf(answer).refused);
        if (refused !== undefined)
          throw new UserError(`the team's server refuses the lifted marks: ${refused}`);
      });
    local.receive(
      lifted.map((line) => ({ outcome: 'line', line })),
      isTold ? 'team' : 'file',
    );
    const rows = marked.map(([{ configuration: own, ...mark }, ...others]) => ({
      ...keysOf(mark),
      configuration: own,
      marks: 1 + others.length,
    }));
    command.print(rows, () =>
      [
        table(
          ['lifted for', 'device', 'configuration', 'marks'],
          rows.map((row) => [
            ...[shortKey(row.workload), row.device, configurationKey(row.configuration), String(row.marks)],
          ]),
          page,
        ),
        sentences(
          isTold
            ? 'Lifted here and for the team; others get it by their next sync.'
            : 'Lifted here; no team is set, so others get it by iree-tuned db export and import.',
        ),
      ].join('\n'),
    );
  });
}

const readAll = (texts: Iterable<string>): Line[] =>
  [...texts].flatMap((text) => {
    const reading = readLine(text);
    return reading.outcome === 'line' ? [reading.line] : [];
  });

/** Marks that exclude a configuration for at least one origin: a mark counts for its own origin at once. */
function countingMarks(lines: readonly Line[]): MarksOfOne[] {
  const revocations = lines.filter((line) => line.type === 'revocation');
  const marks = lines.filter((line) => line.type === 'mark').filter((mark) => !isRevoked(mark, revocations));
  const name = (mark: MarkLine) => JSON.stringify([keysOf(mark), configurationText(mark.configuration)]);
  return [...Map.groupBy(marks, name).values()].filter((own) =>
    own.some((mark) => isMarked(own, mark)),
  ) as unknown as MarksOfOne[];
}

function liftedMark(marks: MarksOfOne, reason: string): MarkLine {
  const [{ configuration, ...mark }] = marks;
  return {
    ...{ type: 'mark', version: 1, ...keysOf(mark), configuration },
    ...{ generation: nextGeneration(marks, 'lifted'), kind: 'lifted', reason },
    ...{ createdAt: new Date().toISOString(), ...ownOrigin() },
  };
}

/** The parts that marks name; the server may not have them yet. */
function partsOf(marks: readonly MarkLine[], lines: readonly Line[]): PartLine[] {
  return lines.filter(
    (line): line is PartLine => 'form' in line && marks.some((mark) => mark[line.type] === line.key),
  );
}
