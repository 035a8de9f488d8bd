// In full after a change of src/settings.
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { casesOfTier } from '../support/needs.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { HOST, oddMatmul, withoutMatmul, Workplace, type RunOptions, WRAPPER, argv } from './support.ts';

/** Without the variables that override the files. */
const BARE = {
  IREE_TUNED_DB: undefined,
  IREE_TUNED_BUDGET: undefined,
  IREE_TUNED_DEVICE: undefined,
} satisfies RunOptions['env'];

interface Config {
  readonly settings: readonly { name: string; value: unknown; origin: string }[];
  readonly files: readonly { layer: string; path: string; found: boolean }[];
  readonly ignored: readonly string[];
  readonly problems: readonly string[];
}

class Project extends Workplace {
  constructor(text = oddMatmul) {
    super();
    this.write('in.mlir', text);
  }

  project(text: string): string {
    this.write('.iree-tuned.json', text);
    return this.path('.iree-tuned.json');
  }

  user(text: string): string {
    const path = this.path('config/iree-tuned/config.json');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  async config(options: readonly string[] = []): Promise<Config> {
    const { stdout } = await this.tuned([...options, 'config', '--json'], { env: BARE });
    return JSON.parse(stdout) as Config;
  }

  /** Compiles. @returns why nothing was tuned */
  async reason(extra: readonly string[] = [], options: RunOptions = {}): Promise<string | null> {
    const result = await this.built([...argv, ...extra], { ...options, env: { ...BARE, ...options.env } });
    return result.operations[0]?.reason ?? result.reason;
  }
}

describe('settings files', () => {
  test('apply to builds, below flags and variables', async () => {
    const place = new Project();
    place.user('{"db": "tuning.db", "on-miss": "record"}');
    expect(await place.reason()).toBe('no record, and tuning is off (on-miss=record)');
    expect(place.has('config/iree-tuned/tuning.db')).toBe(true);
    place.project('{"on-miss": "default"} // no tuning here');
    expect(await place.reason()).toBe('no record, and tuning is off (on-miss=default)');
    const env = { IREE_TUNED_ON_MISS: 'tune', IREE_TUNED_BUDGET: '0' };
    expect(await place.reason([], { env })).toBe('no record, and the tuning budget is 0');
    expect(await place.reason(['--iree-tuned-on-miss=record'], { env })).toBe(
      'no record, and tuning is off (on-miss=record)',
    );
  });

  test('of a project apply in the folders below it, with paths relative to the file', async () => {
    const place = new Project();
    place.project('{"budget": 0, "db": "tuning/records.db", "explain": "explain.json"}');
    mkdirSync(place.path('below'));
    const { code } = await place.run(
      'sh',
      ['-c', 'cd below && exec "$0" "$@"', WRAPPER, ...argv.with(-3, '../in.mlir')],
      { env: BARE },
    );
    expect(code).toBe(0);
    expect(place.has('below/out.vmfb')).toBe(true);
    expect(place.has('tuning/records.db')).toBe(true);
    expect(place.has('explain.json')).toBe(true);
  });

  test('can disable everything', async () => {
    const place = new Project();
    place.project('{"disable": true}');
    place.remove('cache');
    expect((await place.compile(argv, { env: BARE })).code).toBe(0);
    expect(await place.isStock()).toBe(true);
    // The launcher alone was there: it notes that Node runs.
    expect(readdirSync(place.path('cache'))).toEqual(['nodes']);
  });

  const mistakes = [
    ['an unknown key', '{"budgte": 5}', /\.iree-tuned\.json:1:2: "budgte" is unknown: the keys are db, /],
    ['a bad value', '{"budget": "long"}', /"budget": "long": it takes seconds, or a time/],
    ['text that is no JSON', 'budget = 5', /\.iree-tuned\.json:1:1: expected \{, found budget/],
  ] as const;
  test.each(casesOfTier(mistakes, 1))(
    'with %s give a build without tuning, and an error of iree-tuned',
    async (_, text, message) => {
      const place = new Project();
      place.project(text);
      expect(await place.reason([], { env: { IREE_TUNED_LOG: 'log' } })).toMatch(message);
      expect(await place.isStock()).toBe(true);
      expect(place.read('log').toString()).toMatch(message);
      const records = await place.tuned(['db', 'ls']);
      expect(records.code).toBe(2);
      expect(records.stderr).toMatch(message);
    },
  );

  test('may set the compiler, also with tuning disabled', { tags: 'full' }, async () => {
    const place = new Project();
    place.write('cc', `#!/bin/sh\necho ran >>ran\nexec '${rememberingCompiler}' "$@"\n`);
    await place.run('chmod', ['+x', 'cc']);
    place.user(`{"compiler": "${place.path('cc')}"}`);
    const env = { ...BARE, IREE_TUNED_COMPILER: undefined };
    for (const more of [{ IREE_TUNED_BUDGET: '0' }, { IREE_TUNED_DISABLE: '1' }]) {
      place.write('ran', '');
      expect((await place.compile(argv, { env: { ...env, ...more } })).code).toBe(0);
      expect(place.read('ran').toString()).toMatch(/ran/);
    }
  });
});

describe("a project's file", () => {
  test('cannot set paths outside the project, and its other settings apply', async () => {
    const place = new Project();
    const outside = new Project();
    const path = place.project(
      `{"db": "${outside.path('stolen.db')}", "explain": "../explain.json", "compiler": "./cc", "budget": 0}`,
    );
    const userPath = place.user('{"db": "~/none.db"}');
    const env = { HOME: place.folder, IREE_TUNED_LOG: 'log' };
    expect(await place.reason([], { env })).toBe('no record, and the tuning budget is 0');
    const log = place.read('log').toString();
    for (const [column, key] of [
      [2, 'db'],
      [null, 'explain'],
      [null, 'compiler'],
    ] as const) {
      expect(log).toContain(`"${key}" is ignored: `);
      if (column !== null) expect(log).toContain(`${path}:1:${column}: "${key}"`);
    }
    expect(log).toContain(`to allow it, add "${place.folder}" to "trusted-projects" in ${userPath}`);
    expect(outside.has('stolen.db')).toBe(false);
    expect(place.has('none.db')).toBe(true);
  });
});

describe('iree-tuned config', () => {
  test('shows every value with its origin, the files, and the ignored settings', async () => {
    const place = new Project();
    const projectPath = place.project('{"budget": 5, "compiler": "cc"}');
    const userPath = place.user('{"device": "local-sync", "budget": 6, "colour": "red"}');
    const config = await place.config(['--db', '/given.db']);
    const of = (name: string) => config.settings.find((setting) => setting.name === name);
    expect(of('db')).toEqual({ name: 'db', value: '/given.db', origin: '--db' });
    expect(of('cache')).toMatchObject({ value: place.path('cache'), origin: 'IREE_TUNED_CACHE' });
    expect(of('budget')).toMatchObject({ value: 5, origin: projectPath });
    expect(of('device')).toMatchObject({ value: 'local-sync', origin: userPath });
    expect(of('on-miss')).toMatchObject({ value: 'tune', origin: 'default' });
    expect(of('compiler')).toMatchObject({ origin: 'IREE_TUNED_COMPILER' });
    expect(config.files).toMatchObject([
      { layer: 'project', path: projectPath, found: true },
      { layer: 'user', path: userPath, found: true },
      { layer: 'system', path: '/etc/iree-tuned/config.json' },
    ]);
    expect(config.ignored).toHaveLength(1);
    expect(config.problems).toHaveLength(1);
    expect(config.problems[0]).toContain('"colour" is unknown');
  });

  test('shows a table, hides passwords, and finds misspelt variables', async () => {
    const place = new Project();
    const { code, stdout, stderr } = await place.tuned(['config'], {
      env: { ...BARE, IREE_TUNED_DB: 'postgres://ada:secret@host/db', IREE_TUNED_BUGDET: '3' },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const text = stdout;
    expect(text).toMatch(/^db +postgres:\/\/ada:\*\*\*@host\/db +IREE_TUNED_DB$/m);
    expect(text).toMatch(/^budget +60 +default$/m);
    expect(text).toMatch(/^project +\S+\.iree-tuned\.json +none here or above$/m);
    expect(text).toMatch(
      /^ignored:\n {2}IREE_TUNED_BUGDET is not a setting \(did you mean IREE_TUNED_BUDGET\?\)$/m,
    );
    expect(text).not.toContain('secret');
  });
});

test('an input with // iree-tuned: disable is an error of iree-tuned tune', async () => {
  const place = new Project(`// iree-tuned: disable\n${withoutMatmul}`);
  expect(await place.tuned(['tune', 'in.mlir'])).toMatchObject({
    code: 1,
    stderr: 'iree-tuned: in.mlir: a comment in the input disables tuning\n',
  });
});

test('a cache folder that other users can write to is not used, and the build goes on without tuning', async () => {
  const place = new Project();
  const cache = place.path('shared');
  mkdirSync(cache);
  chmodSync(cache, 0o777);
  const env = { IREE_TUNED_CACHE: cache, IREE_TUNED_LOG: 'log' };
  const told = `cache=${cache}: others can write to it (mode 777): chmod go-w ${cache}`;
  expect(await place.reason([], { env })).toBe(`a setting cannot be used: ${told}`);
  expect(await place.isStock()).toBe(true);
  expect(place.read('log').toString()).toContain(told);
  // The launcher notes the started Node there. Nothing else uses the folder.
  expect(readdirSync(cache)).toEqual(['nodes']);
  const doctor = await place.tuned(['doctor'], { env });
  expect(doctor.code).toBe(2);
  expect(doctor.stderr).toContain(told);
});

test('no record of a database that a project has set goes to a team', { tags: 'full' }, async () => {
  const place = new Project();
  place.project('{"db": "their.db"}');
  const folder = temporaryDirectory();
  const env = {
    ...BARE,
    ...{ IREE_TUNED_TEAM: folder, IREE_TUNED_TEAM_PUBLISH: 'now' },
    IREE_TUNED_FLEET: 'postgres://127.0.0.1:1/nobody',
  };
  place.write('their.db', 'any');
  for (const command of [
    ['team', 'sync'],
    ['team', 'publish', folder],
    ['team', 'worker', '--', ...HOST],
  ]) {
    const { code, stderr } = await place.tuned(command, { env });
    expect(code).toBe(1);
    expect(stderr).toContain(
      'and a database of a project never goes to a team: name your own database with --db',
    );
  }
});
