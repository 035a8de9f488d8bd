// `iree-tuned config`: every setting, where it comes from, and what was not understood or not allowed.
import type { Command as Program } from 'commander';
import { didYouMean } from '../report/nearest.ts';
import { table } from '../report/table.ts';
import { printable, wrapped } from '../report/text.ts';
import { NAMES, shownText, variableOf, type Name } from '../settings/settings.ts';
import { settingsOf } from './context.ts';
import { page } from './output.ts';

/** Variables that are no settings of a compile: the launcher's choice of Node, messages to ourselves, and the tests' machine. */
const OTHER_VARIABLES = ['IREE_TUNED_NODE', 'IREE_TUNED_DEPTH', 'IREE_TUNED_SHIM_FOR', 'IREE_TUNED_MACHINE'];

export function showConfig(options: { json?: boolean }, program: Program): void {
  const { origins, files, problems, refused } = settingsOf(program);
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
  const ignored = [...refused, ...unknownVariables()];
  if (problems.length > 0) process.exitCode = 1;
  if (options.json === true) {
    console.log(JSON.stringify({ settings, files: places, ignored, problems }, null, 2));
    return;
  }
  console.log(
    table(
      ['setting', 'value', 'from'],
      settings.map(({ name, value, origin }) => [name, value === null ? '-' : String(value), origin]),
      page,
    ),
  );
  const rows = places.map(({ layer, path, found, problem }) => [
    layer,
    path,
    problem === null
      ? found
        ? 'read'
        : layer === 'project'
          ? 'none there or above'
          : 'none'
      : `cannot be read: ${problem}`,
  ]);
  console.log(`\n${table(['file', 'path', 'state'], rows, page)}`);
  if (ignored.length > 0) console.log(`\nignored:\n${listed(ignored)}`);
  if (problems.length > 0)
    console.log(`\nnot understood; builds go on without tuning until it is mended:\n${listed(problems)}`);
}

const listed = (lines: readonly string[]) =>
  lines.map((line) => wrapped(`  ${printable(line)}`, page.columns, '    ')).join('\n');

/** Null for what is not set. The password of a server is nobody's business. */
const shown = (name: Name, value: string | number | boolean | undefined) =>
  typeof value === 'string' ? shownText(name, value) : (value ?? null);

/** Most likely misspelt. */
function unknownVariables(): string[] {
  const known = new Set([...NAMES.map(variableOf), ...OTHER_VARIABLES]);
  return Object.keys(process.env)
    .filter((name) => name.startsWith('IREE_TUNED_') && !known.has(name))
    .map((name) => `${name} is no setting${didYouMean(name, [...known])}`);
}
