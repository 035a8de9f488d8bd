// `iree-tuned config`
import { unknownVariables } from '../report/unknown-settings.ts';
import { table } from '../report/table.ts';
import { type Name, shownText } from '../settings/settings.ts';
import { CliCommand } from './command.ts';
import { page, sentences } from './output.ts';

export const config = new CliCommand('config', 'show each setting, its origin, and the settings files')
  .json()
  .examples(['iree-tuned config', 'all settings and their origins'])
  .action(showConfig);

/** Ends with 1 where a setting is invalid. */
function showConfig(_: unknown, command: CliCommand): void {
  const { origins, files, problems, refused } = command.settings();
  const node = process.env['IREE_TUNED_NODE'] ? 'IREE_TUNED_NODE' : 'default';
  const settings = [
    ...origins.map(({ name, value, origin }) => ({ name, value: shown(name, value), origin })),
    { name: 'node', value: process.execPath, origin: node },
  ];
  const places = files.map(({ layer, path, text, problem }) => ({
    layer,
    path,
    found: text !== null,
    problem,
  }));
  const ignored = [...refused, ...unknownVariables(process.env)];
  if (problems.length > 0) process.exitCode = 1;
  const stateOf = ({ layer, found, problem }: (typeof places)[number]) =>
    problem !== null
      ? `cannot be read: ${problem}`
      : found
        ? 'read'
        : layer === 'project'
          ? 'none here or above'
          : 'none';
  command.print({ settings, files: places, ignored, problems }, () =>
    [
      table(
        ['setting', 'value', 'from'],
        settings.map(({ name, value, origin }) => [name, value === null ? '-' : String(value), origin]),
        page,
      ),
      '',
      table(
        ['file', 'path', 'state'],
        places.map((one) => [one.layer, one.path, stateOf(one)]),
        page,
      ),
      ...(ignored.length > 0 ? [`\nignored:\n${listed(ignored)}`] : []),
      ...(problems.length > 0
        ? [`\ninvalid; builds do not tune until they are fixed:\n${listed(problems)}`]
        : []),
    ].join('\n'),
  );
}

const listed = (lines: readonly string[]) => sentences(...lines.map((line) => `  ${line}`));

/** The value of a setting without passwords; null if it is not set. */
const shown = (name: Name, value: string | number | boolean | undefined) =>
  typeof value === 'string' ? shownText(name, value) : (value ?? null);
