// `iree-tuned lift`: marks of configurations that do not count any more, here and, where there is one, for the whole team.
import type { Command as Program } from 'commander';
import { configurationKey, configurationText } from '../backend/index.ts';
import { table } from '../report/table.ts';
import { ownOrigin } from '../store/author.ts';
import { isMarked, isRevoked, nextGeneration } from '../store/claim.ts';
import type { Line, MarkLine, PartLine } from '../store/exchange/lines.ts';
import { readLine } from '../store/exchange/read.ts';
import { fits, type Filter } from '../store/filter.ts';
import { keysOf } from '../store/subject.ts';
import { UserError } from '../system/user-error.ts';
import { filterOf } from './filters.ts';
import { COMMAND_LIMIT_MS, valueOf, withTeam } from './team.ts';
import { openWholeDatabase, surroundingsOf } from './context.ts';
import { page, say } from './output.ts';

/** All marks of one configuration of one subject. */
type MarksOfOne = readonly [MarkLine, ...MarkLine[]];

export async function lift(
  workload: string,
  options: { reason: string; configuration?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const local = openWholeDatabase(surroundings);
  try {
    const filter: Filter = { ...filterOf(program), workload };
    const lines = readAll(local.lines({}, () => undefined));
    const { configuration } = options;
    const marked = countingMarks(lines).filter(
      ([mark]) =>
        fits(mark, filter) &&
        (configuration === undefined || configurationKey(mark.configuration) === configuration),
    );
    if (marked.length === 0)
      throw new UserError(
        `nothing is marked for "${workload}"${configuration === undefined ? '' : ` with the configuration ${configuration}`} here; ` +
          "iree-tuned sync brings the team's marks, and iree-tuned export - shows all that there are",
      );
    const lifted = marked.map((marks) => liftedMark(marks, options.reason));
    const isTold = surroundings.settings.team !== undefined;
    // Who may not lift anything there has not lifted anything here either.
    if (isTold)
      await withTeam(surroundings, async (team) => {
        const answer = await team.push([...partsOf(lifted, lines), ...lifted], COMMAND_LIMIT_MS);
        const [refused] = Object.keys(valueOf(answer).refused);
        if (refused !== undefined) throw new UserError(`the team's server does not take this: ${refused}`);
      });
    local.receive(
      lifted.map((line) => ({ outcome: 'line', line })),
      isTold ? 'team' : 'file',
    );
    report(marked, isTold, options.json === true);
  } finally {
    local.close();
  }
}

const readAll = (texts: Iterable<string>): Line[] =>
  [...texts].flatMap((text) => {
    const reading = readLine(text);
    return reading.outcome === 'line' ? [reading.line] : [];
  });

/** Those that rule a configuration out, for whoever looks: one origin's word is a mark to itself, so it can be lifted, too. */
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

/** What they name, since the server may have heard of none of it. */
function partsOf(marks: readonly MarkLine[], lines: readonly Line[]): PartLine[] {
  return lines.filter(
    (line): line is PartLine => 'form' in line && marks.some((mark) => mark[line.type] === line.key),
  );
}

function report(marked: readonly MarksOfOne[], isTold: boolean, asJson: boolean): void {
  const rows = marked.map(([{ configuration, ...mark }, ...others]) => ({
    ...keysOf(mark),
    configuration,
    marks: 1 + others.length,
  }));
  if (asJson) {
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  console.log(
    table(
      ['lifted for', 'device', 'configuration', 'marks'],
      rows.map(({ workload, device, configuration, marks }) => [
        workload.replace(/^contraction /, ''),
        device,
        configurationKey(configuration),
        String(marks),
      ]),
      page,
    ),
  );
  say(
    isTold
      ? 'Here and by the team; others have it by their next sync.'
      : 'Here; no team is set, so others get it by iree-tuned export, merge or sync.',
  );
}
