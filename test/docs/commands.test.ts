// The parser understands the command lines of the pages and of the files in docs/ci and docs/team. Their options, settings and roles exist. Other tests
// of this folder run the commands.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NAMES, splitFlags } from '../../src/settings/settings.ts';
import { QUEUE_SCHEMA } from '../../src/fleet/boss.ts';
import { callsIn, COMMANDS, parsed, walk, type Call } from '../support/command-lines.ts';
import { root } from '../support/folders.ts';
import { startedBy, stepsOf } from '../support/page.ts';

const PAGES = [
  'README.md',
  ...globSync(['{docs,db,bench}/*.md', 'docs/{ci,team}/*'], { cwd: root }),
].toSorted();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
const python = globSync('python/iree_compile_tuned/*.py', { cwd: root }).map(read).join('\n');

// The parser prints its complaints.
beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

const OPTIONS = [
  ...walk().flatMap(([, { options }]) => options.map(({ long }) => long?.slice(2))),
  // Options of every program, and of npm, pip and docker.
  ...['help', 'prefix', 'target', 'user', 'allow-scripts'],
];
const SETTINGS = [...NAMES, 'node', 'machine'].map((name) => name.toUpperCase().replaceAll('-', '_'));
const IN_SERVER = [QUEUE_SCHEMA];

interface Snippet {
  readonly text: string;
  readonly line: number;
  /** Part of a sentence: required arguments may be missing. */
  readonly isInline: boolean;
}

const STARTS = new RegExp(
  `^(?:\\$ )?(?=(?:[A-Z_]+=\\S+ )*(?:\\S*\\bbin/)?(?:${COMMANDS.join('|')})(?![\\w./:-]))`,
);

/** Blocks of shell, typed lines of other blocks, commands in sentences, those of a workflow, and the command of a service's file. */
function snippetsOf(page: string): Snippet[] {
  const text = read(page);
  if (!page.endsWith('.md')) {
    // GitHub replaces expressions before the shell runs.
    const steps = stepsOf(text).map((step) => step.replaceAll(/\$\{\{.*?\}\}/g, '1'));
    return [...startedBy(text), ...steps].map((own) => ({ text: own, line: 1, isInline: false }));
  }
  const lineAt = (index: number) => text.slice(0, index).split('\n').length;
  const blocks = [...text.matchAll(/^```(?<language>\w*)\n(?<body>[^]*?)^```$/gm)];
  const prose = blocks.reduce((left, { 0: all }) => left.replace(all, all.replaceAll(/[^\n]/g, ' ')), text);
  const inline = [...prose.matchAll(/`([^`\n]+)`/g)].filter(([, code]) => STARTS.test(code!));
  return [
    ...blocks.flatMap(({ groups, index }): Snippet[] => {
      const { language, body } = groups!;
      const lines = body!.split('\n');
      const typed = lines.filter((line) => STARTS.test(line)).join('\n');
      const whole = language === 'sh' ? body! : language === '' ? typed : '';
      return [{ text: whole.replaceAll(/^\$ /gm, ''), line: lineAt(index), isInline: false }];
    }),
    ...inline.map(({ 1: code, index }) => ({ text: code!, line: lineAt(index), isInline: true })),
  ].filter((snippet) => snippet.text !== '');
}

/** Words of npm itself. */
const OF_NPM = ['ci', 'install', 'publish', 'pack', 'sbom'];

async function check({ command, argv }: Call, isInline: boolean): Promise<void> {
  switch (command) {
    case 'iree-tuned':
      if (argv.length === 0) return;
      await parsed(argv).catch((error: unknown) => {
        const isLeftOut =
          error instanceof CommanderError &&
          /^commander\.(?:help|version|missingArgument|missingMandatoryOptionValue|optionMissingArgument)/.test(
            error.code,
          );
        if (!isLeftOut || (!isInline && error.exitCode !== 0)) throw error;
      });
      return;
    case 'iree-compile-tuned':
      expect(splitFlags(argv).rest.filter((flag) => flag.startsWith('--iree-tuned'))).toEqual([]);
      return;
    case 'npm': {
      const [verb, ...rest] = argv;
      if (OF_NPM.includes(verb!)) return;
      const name = verb === 'run' ? rest[0]! : verb!;
      expect(Object.keys(scripts)).toContain(name);
      const [source] = /\b[\w/]+\.ts$/.exec(scripts[name]!) ?? [];
      const options = rest.flatMap((word) => /^--([a-z][\w-]+)/.exec(word)?.[1] ?? []);
      // A script's folder may hold the option.
      const partsOf = (script: string) => globSync(script.replace(/\.ts$/, '/*.ts'), { cwd: root });
      for (const option of options)
        expect([source!, ...partsOf(source!)].map(read).join('')).toMatch(new RegExp(`['-]${option}\\b`));
      return;
    }
    default:
      expect(argv.slice(0, 2)).toEqual(['vitest', 'run']);
      expect(existsSync(join(root, argv[2]!))).toBe(true);
  }
}

describe.each(PAGES)('%s', (page) => {
  const snippets = snippetsOf(page);

  test('shows command lines that are understood', async () => {
    const calls = callsIn(snippets.map(({ text }) => text));
    for (const call of calls) {
      const { line, isInline } = snippets[call.script]!;
      const words = [call.command, ...call.argv].join(' ');
      await check(call, isInline).catch((error: unknown) => {
        throw new Error(`${page}:${line}: ${words}`, { cause: error });
      });
    }
    // The parser reached the last command of each snippet.
    const found = new Set(calls.map(({ script }) => script));
    const mentions = snippets.filter(({ text }) => text.split('\n').some((line) => STARTS.test(line)));
    expect(mentions.filter((snippet) => !found.has(snippets.indexOf(snippet)))).toEqual([]);
  });

  test('names variables, options, roles, scripts and parts of the Python module that exist', () => {
    const text = read(page);
    for (const [, name] of text.matchAll(/\bIREE_TUNED_([A-Z_]+)\b/g)) expect(SETTINGS).toContain(name);
    for (const [name] of text.matchAll(/\biree_tuned_[a-z]+\b/g)) expect(IN_SERVER).toContain(name);
    if (page.startsWith('docs/'))
      for (const [code] of text.matchAll(/`(?:iree-tuned |--)[^`\n]*`/g))
        for (const [, option] of code.matchAll(/(?<=[` ])--(?!iree-)([a-z][a-z-]*)/g))
          expect(OPTIONS).toContain(option);
    for (const [, name] of text.matchAll(/\bnpm run ([\w:.-]+\w)/g)) expect(scripts).toHaveProperty([name!]);
    for (const [, name] of text.matchAll(/\biree_compile_tuned\.([a-z]\w*)/g))
      expect(python).toMatch(new RegExp(`^def ${name!}\\(`, 'm'));
  });
});

test('the pages have command lines', () => {
  const count = (page: string) => callsIn(snippetsOf(page).map(({ text }) => text)).length;
  expect(count('README.md')).toBeGreaterThan(5);
  expect(count('docs/tuning.md')).toBeGreaterThan(15);
  const others = ['settings', 'install', 'how-it-works', 'contributing', 'troubleshooting'].map(
    (name) => `docs/${name}.md`,
  );
  for (const page of [
    ...others,
    'docs/ci/tuned.yaml',
    'docs/team/worker.compose.yaml',
    'docs/team/iree-tuned-worker.service',
  ])
    expect({ page, count: count(page) > 0 }).toEqual({ page, count: true });
});
