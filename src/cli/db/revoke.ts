// `iree-tuned db revoke` and `restore`: revocations of claims and lifted marks.
import { configurationKey, configurationText } from '../../backend/index.ts';
import { table } from '../../report/table.ts';
import { ownOrigin, writtenNow } from '../../store/author.ts';
import { isMarked, isRevoked, nextGeneration } from '../../store/claim.ts';
import type { Line, MarkLine, RevocationLine } from '../../store/exchange/lines.ts';
import { readLine } from '../../store/exchange/read.ts';
import { type Filter, fits } from '../../store/filter.ts';
import type { Origin } from '../../store/store.ts';
import { keysOf } from '../../store/subject.ts';
import { shortKey } from '../../system/format.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { openLines } from '../database.ts';
import { UsageError } from '../failure.ts';
import { page, sentences } from '../output.ts';
import { filterText } from './records.ts';

const FOR_OTHERS = 'Others get it by iree-tuned team publish, or by iree-tuned db export and import.';

const SCOPES = ['record', 'tool', 'origin'] as const;

/** The claims of a revocation: exactly one is set. */
interface ScopeOptions {
  readonly record?: string;
  readonly tool?: string;
  readonly origin?: string;
}

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

export const revoke = withScope(new CliCommand('revoke', 'revoke claims: no build uses them'))
  .requiredOption('--reason <text>', 'reason, shown to others')
  .json()
  .examples(
    ['iree-tuned db revoke --tool 0.1.0 --reason "wrong timer"', 'all claims of a version'],
    ['iree-tuned db revoke --origin ada@build7 --reason "broken fan"', 'claims of a user on one machine'],
  )
  .action((options: ScopeOptions & { readonly reason: string }, command: CliCommand) => {
    const { scope, value } = scopeOf(options);
    const surroundings = command.surroundings();
    const { createdBy } = ownOrigin(surroundings.settings.author);
    const line: RevocationLine = {
      ...{ type: 'revocation', version: 1, scope, value, reason: options.reason },
      ...{ ...writtenNow(), createdBy },
    };
    using local = openLines(surroundings);
    local.receive([{ outcome: 'line', line }]);
    command.print({ scope, value }, () => sentences(`${scope} ${value} is revoked here. ${FOR_OTHERS}`));
  });

interface RestoreOptions extends ScopeOptions {
  readonly marks?: string;
  readonly configuration?: string;
  readonly reason?: string;
}

export const restore = withScope(new CliCommand('restore', 'withdraw a revocation or lift marks'))
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
  .action((options: RestoreOptions, command: CliCommand) => {
    const { marks, configuration, reason } = options;
    if (marks !== undefined) {
      if (reason === undefined) throw new UsageError('--marks needs --reason TEXT');
      liftMarks({ ...command.filter, workload: marks }, configuration, reason, command);
      return;
    }
    const revocation = scopeOf(options);
    const { scope, value } = revocation;
    const surroundings = command.surroundings();
    using local = openLines(surroundings);
    if (!local.restore(revocation)) throw new UserError(`${scope} ${value} is not revoked`);
    command.print({ scope, value }, () =>
      sentences(`The revocation of ${scope} ${value} is withdrawn here.`),
    );
  });

/** All marks of one configuration of one subject. */
type MarksOfOne = readonly [MarkLine, ...MarkLine[]];

/**
 * Lifts marks of configurations, so that builds and searches use these configurations again.
 * @param configuration key of the only configuration; all when undefined
 * @throws UserError where nothing is marked
 */
function liftMarks(
  filter: Filter,
  configuration: string | undefined,
  reason: string,
  command: CliCommand,
): void {
  const surroundings = command.surroundings();
  using local = openLines(surroundings);
  const lines = readAll(local.lines({}, () => undefined));
  const marked = countingMarks(lines).filter(
    ([mark]) =>
      fits(mark, filter) &&
      (configuration === undefined || configurationKey(mark.configuration) === configuration),
  );
  if (marked.length === 0)
    throw new UserError(
      `no configuration has a mark${filterText(filter)}${configuration === undefined ? '' : ` with the configuration ${configuration}`}; ` +
        'iree-tuned db export - prints all marks',
    );
  const origin = ownOrigin(surroundings.settings.author);
  const lifted = marked.map((marks) => liftedMark(marks, reason, origin));
  local.receive(lifted.map((line) => ({ outcome: 'line', line })));
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
      sentences(`Lifted here. ${FOR_OTHERS}`),
    ].join('\n'),
  );
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

function liftedMark(marks: MarksOfOne, reason: string, origin: Origin): MarkLine {
  const [{ configuration, ...mark }] = marks;
  return {
    ...{ type: 'mark', version: 1, ...keysOf(mark), configuration },
    ...{ generation: nextGeneration(marks, 'lifted'), kind: 'lifted', reason },
    ...{ ...writtenNow(), ...origin },
  };
}
