// `iree-tuned db restore --marks`: lifts marks of configurations, here and for the team.
import { configurationKey, configurationText } from '../../backend/index.ts';
import { table } from '../../report/table.ts';
import { ownOrigin } from '../../store/author.ts';
import { isMarked, isRevoked, nextGeneration } from '../../store/claim.ts';
import type { Line, MarkLine, PartLine } from '../../store/exchange/lines.ts';
import { readLine } from '../../store/exchange/read.ts';
import { fits, type Filter } from '../../store/filter.ts';
import { keysOf } from '../../store/subject.ts';
import { shortKey } from '../../system/format.ts';
import { UserError } from '../../system/user-error.ts';
import type { CliCommand } from '../command.ts';
import { openWholeDatabase, surroundingsOf } from '../context.ts';
import { page, sentences } from '../output.ts';
import { COMMAND_LIMIT_MS, valueOf, withTeam } from '../team/server.ts';
import { filterText } from './records.ts';

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
  const surroundings = surroundingsOf(command);
  const local = openWholeDatabase(surroundings);
  try {
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
  } finally {
    local.close();
  }
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
