// `iree-tuned builds`: the log of builds.
import { InvalidArgumentError, type Command as Program } from 'commander';
import { loggedBuilds, type LoggedBuild } from '../report/build-log.ts';
import { printable, wrapped } from '../report/text.ts';
import { surroundingsOf } from './context.ts';
import { page, say } from './output.ts';
import { meaningOf } from '../system/reason.ts';

export function showBuilds(options: { last: number; json?: boolean }, program: Program): void {
  const { cacheDirectory } = surroundingsOf(program);
  const builds = loggedBuilds(cacheDirectory, options.last);
  if (options.json === true) console.log(JSON.stringify(builds, null, 2));
  else if (builds.length === 0) say(`No build has been logged in ${cacheDirectory} yet.`);
  else for (const build of builds) console.log(describe(build));
}

export function readCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('it must be a whole number above 0.');
}

/** One line for the build, and one for each reason why something of it is not tuned. */
function describe({ at, input, again, counts }: LoggedBuild): string {
  const named = (beginning: string) =>
    Object.entries(counts).flatMap(([name, count]): [string, number][] =>
      name.startsWith(beginning) ? [[name.slice(beginning.length), count]] : [],
    );
  const [route] = named('route: ').map(([name]) => name);
  const operations = named('operations: ').map(([outcome, count]) => `${count} ${outcome}`);
  const parts = [route ?? 'not tuned', ...operations, ...(again ? ['as before'] : [])];
  const reasons = ['unchanged: ', 'fallback: ', 'default: ', 'skipped: ', 'not verified: '].flatMap(named);
  const time = at.slice(0, 19).replace('T', ' ');
  return [
    page.paint('bold', printable(`${time}  ${input}`)) + `  ${parts.join(', ')}`,
    ...reasons.map(([reason, count]) =>
      wrapped(`  ${count} x ${printable(meaningOf(reason))}`, page.columns, '    '),
    ),
  ].join('\n');
}
