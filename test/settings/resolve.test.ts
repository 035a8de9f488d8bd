import { describe, expect, it, test } from 'vitest';
import { parseConfigText } from '../../src/settings/config-text.ts';
import { splitFlags } from '../../src/settings/settings.ts';
import type { FileLayer } from '../../src/settings/files.ts';
import { resolveSettings } from '../../src/settings/resolve.ts';

const PATHS: Record<FileLayer, string> = {
  project: '/projects/app/.iree-tuned.json',
  user: '/home/ada/.config/iree-tuned/config.json',
  system: '/etc/iree-tuned/config.json',
};

interface Given {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly project?: string;
  readonly user?: string;
  readonly system?: string;
  /** Links: targets by path. */
  readonly links?: Readonly<Record<string, string | null>>;
}

function resolve(given: Given) {
  return resolveSettings({
    env: given.env ?? {},
    flags: splitFlags(given.flags ?? []).given,
    flagPrefix: '--iree-tuned-',
    files: (['project', 'user', 'system'] as const).map((layer) => ({
      layer,
      path: PATHS[layer],
      text: given[layer] ?? null,
      problem: null,
    })),
    parse: parseConfigText,
    home: '/home/ada',
    defaults: { database: '/default.db', cache: '/default-cache', lock: undefined },
    realPath: (path) => (path in (given.links ?? {}) ? given.links![path]! : path),
    mayOverwrite: (_, path) => !path.endsWith('.c'),
  });
}

const originOf = (given: Given, name: string) =>
  resolve(given).origins.find((one) => one.name === name)?.origin;

describe('settings', () => {
  it('have defaults', () => {
    const { settings, origins, problems, refused } = resolve({});
    expect(settings).toEqual({
      database: '/default.db',
      onMiss: 'tune',
      budgetSeconds: 60,
      inject: 'auto',
      sizes: [],
      data: { arguments: [], parameters: [] },
      trust: 'device',
      outputs: true,
      disabled: false,
      readonly: false,
      cache: '/default-cache',
      frozen: false,
      bases: [],
      publish: 'off',
      isForeignDatabase: false,
    });
    expect(new Set(origins.map(({ origin }) => origin))).toEqual(new Set(['default']));
    expect([...problems, ...refused]).toEqual([]);
  });

  it('come from the first layer that has them', () => {
    const layers: [keyof Given, unknown, string][] = [
      ['flags', ['--iree-tuned-budget=1'], '--iree-tuned-budget'],
      ['env', { IREE_TUNED_BUDGET: '2' }, 'IREE_TUNED_BUDGET'],
      ['project', '{"budget": 3}', PATHS.project],
      ['user', '{"budget": 4}', PATHS.user],
      ['system', '{"budget": 5}', PATHS.system],
    ];
    for (const [i, [, , origin]] of layers.entries()) {
      const given: Given = Object.fromEntries(layers.slice(i).map(([name, value]) => [name, value]));
      expect(resolve(given).settings.budgetSeconds).toBe(i + 1);
      expect(originOf(given, 'budget')).toBe(origin);
    }
  });

  it('of several layers combine', () => {
    const { settings } = resolve({
      env: { IREE_TUNED_ON_MISS: 'default' },
      project: '{"budget": 3, "disable": false}',
      user: '{"device": "local-sync", "disable": true}',
    });
    expect(settings).toMatchObject({
      onMiss: 'default',
      budgetSeconds: 3,
      disabled: false,
      device: 'local-sync',
    });
  });

  test.each<[string, number]>([
    ['90', 90],
    ['1.5', 1.5],
    ['90s', 90],
    ['15m', 900],
    ['2h', 7200],
  ])('read the budget %s as %s s', (budget, seconds) => {
    expect(resolve({ env: { IREE_TUNED_BUDGET: budget } }).settings.budgetSeconds).toBe(seconds);
    expect(resolve({ user: JSON.stringify({ budget }) }).settings.budgetSeconds).toBe(seconds);
  });

  it('can be turned off in a stronger layer', () => {
    expect(resolve({ env: { IREE_TUNED_DISABLE: '0' } }).settings.disabled).toBe(false);
    const given = { env: { IREE_TUNED_DISABLE: '1' }, flags: ['--iree-tuned-disable=0'] };
    expect(resolve(given).settings.disabled).toBe(false);
    expect(resolve({ flags: ['--iree-tuned-readonly'] }).settings.readonly).toBe(true);
  });

  it('refuse a value with the name of the setting and the possible values', () => {
    expect(resolve({ env: { IREE_TUNED_ON_MISS: 'panic' } }).problems).toEqual([
      'IREE_TUNED_ON_MISS=panic: it takes tune, default, record',
    ]);
  });

  test.each([
    ['postgres:/ada:s3cret@host/db'],
    ['ada:s3cret@host'],
    // An unescaped special character in the password ends the host.
    ['postgres://ada:s3cret/x@host/db'],
    ['postgres://ada:12/s3cret@host/db'],
    ['postgres://ada:12?s3cret@host/db'],
    ['postgres://ada:12#s3cret@host/db'],
  ])('refuse the fleet %s without showing the password', (fleet) => {
    const places: Given[] = [
      { env: { IREE_TUNED_FLEET: fleet } },
      { flags: [`--iree-tuned-fleet=${fleet}`] },
      { user: JSON.stringify({ fleet }) },
    ];
    for (const place of places) {
      const { problems, settings } = resolve(place);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(/\*\*\*.*it takes the URL of a PostgreSQL server/);
      expect(problems[0]).not.toContain('s3cret');
      expect(settings.fleet).toBeUndefined();
    }
  });

  it('refuse an empty flag', () => {
    expect(resolve({ flags: ['--iree-tuned-db='] }).problems).toEqual([
      '--iree-tuned-db=: it takes the path of a SQLite file',
    ]);
  });

  it('that are invalid do not affect the others', () => {
    const { settings, problems } = resolve({
      env: { IREE_TUNED_BUDGET: 'soon', IREE_TUNED_LOG: '/log', IREE_TUNED_COMPILER: '/cc' },
    });
    expect(problems).toHaveLength(1);
    expect(settings).toMatchObject({ budgetSeconds: 60, log: '/log', compiler: '/cc' });
  });
});

describe('a settings file', () => {
  test.each([
    [
      '{"budgte": 5}',
      ':1:2: "budgte" is unknown: the keys are db, compiler, on-miss, budget, inject, dim, input, max-input, device, runner, runner-tools, runner-cpus, for-device, trust, require, disable, readonly, explain, log, cache, outputs, lock, frozen, team, team-key, team-token, team-publish, author, fleet, trusted-projects',
    ],
    [
      '{\n  "budget": "soon"}',
      ':2:3: "budget": "soon": it takes seconds, or a time such as 90s, 15m or 2h; 0 for no tuning',
    ],
    [
      '{"budget": -5}',
      ':1:2: "budget": -5: it takes seconds, or a time such as 90s, 15m or 2h; 0 for no tuning',
    ],
    ['{"disable": "no"}', ':1:2: "disable": "no": it takes true or false'],
    ['{"on-miss": "fail"}', ':1:2: "on-miss": "fail": it takes tune, default, record'],
    [
      '{"dim": "m"}',
      ':1:2: "dim": "m": it takes sizes to tune at, such as m=1,16,128 or "batch=1 seq=512 / batch=4,16 seq=1"',
    ],
    ['{"db": ["a"]}', ':1:2: "db": ["a"]: it takes the path of a SQLite file'],
    ['{"trusted-projects": "/a"}', ':1:2: "trusted-projects": it takes a list of folders'],
    ['{"budget": 5', ':1:13: expected , or }, found the end of the file'],
  ])('%j is refused with file, position and key', (text, message) => {
    expect(resolve({ user: text }).problems).toEqual([PATHS.user + message]);
  });

  it('has paths relative to its folder, and expands ~', () => {
    const { settings } = resolve({ user: '{"db": "x/tuning.db", "log": "~/log", "explain": "-"}' });
    expect(settings).toMatchObject({
      database: '/home/ada/.config/iree-tuned/x/tuning.db',
      log: '/home/ada/log',
      explain: '-',
    });
  });

  it('may name a database on a server', () => {
    expect(resolve({ system: '{"db": "postgres://host/db"}' }).settings.database).toBe('postgres://host/db');
  });
});

describe("a project's file", () => {
  it('may set all but commands and paths outside the project', () => {
    const { settings, refused } = resolve({
      project: '{"budget": 5, "db": "tuning/tuning.db", "log": "build/../log", "explain": "-"}',
    });
    expect(refused).toEqual([]);
    expect(settings).toMatchObject({
      budgetSeconds: 5,
      database: '/projects/app/tuning/tuning.db',
      log: '/projects/app/log',
      explain: '-',
    });
  });

  it("may name the user's data inside the project", () => {
    const { settings, refused } = resolve({
      project: '{"input": "main.arg0=@data/tokens.npy; arg1=4xf32=1 2 3 4; parameters=m=@w.irpa"}',
    });
    expect(refused).toEqual([]);
    expect(settings.data).toEqual({
      arguments: [
        { function: 'main', argument: 0, values: ['@/projects/app/data/tokens.npy'] },
        { function: null, argument: 1, values: ['4xf32=1 2 3 4'] },
      ],
      parameters: [{ scope: 'm', path: '/projects/app/w.irpa' }],
    });
  });

  it('may not name data outside the project', () => {
    const { settings, refused } = resolve({ project: '{"input": "arg0=@tokens.npy; arg1=@../secret.npy"}' });
    expect(settings.data.arguments).toEqual([]);
    expect(refused).toEqual([outside(2, 'input')]);
  });

  const outside = (column: number, key: string) =>
    `${PATHS.project}:1:${column}: "${key}" is ignored: the path is outside the project; ` +
    `to allow it, add "/projects/app" to "trusted-projects" in ${PATHS.user}`;

  it('that names a database makes it foreign, unless the user trusts the project or names another database', () => {
    const project = '{"db": "tuning.db"}';
    const isForeign = (given: Given) => resolve({ project, ...given }).settings.isForeignDatabase;
    expect(isForeign({})).toBe(true);
    expect(isForeign({ user: '{"trusted-projects": ["/projects"]}' })).toBe(false);
    expect(isForeign({ env: { IREE_TUNED_DB: '/mine.db' } })).toBe(false);
  });

  it('may not overwrite a file of another program', () => {
    const { settings, refused } = resolve({ project: '{"log": "main.c", "explain": "main.json"}' });
    expect(settings).toMatchObject({ log: undefined, explain: '/projects/app/main.json' });
    expect(refused).toEqual([expect.stringContaining('it would overwrite a file of another program')]);
  });

  test.each([
    ['db', '../app.db'],
    ['db', '/projects/app2/tuning.db'],
    ['db', '..'],
    ['db', 'postgres://host/db'],
    ['db', 'PostgreSQL://host/db'],
    ['db', '-/../../x'],
    ['explain', '/etc/cron.d/x'],
    ['log', '~/.profile'],
  ])('may not set %s to %s', (key, value) => {
    const { settings, refused, problems } = resolve({
      project: `{"${key}": "${value}", "budget": 7}`,
      user: '{"db": "/user.db"}',
    });
    expect(refused).toEqual([outside(2, key)]);
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      budgetSeconds: 7,
      database: '/user.db',
      explain: undefined,
      log: undefined,
      cache: '/default-cache',
    });
  });

  it('may not lead outside by a link or a dangling link', () => {
    const links = { '/projects/app/link/db': '/elsewhere/db', '/projects/app/dangling': null };
    const project = '{"db": "link/db", "log": "dangling"}';
    expect(resolve({ project, links }).refused).toEqual([outside(2, 'db'), outside(19, 'log')]);
  });

  it('may itself be reached by a link', () => {
    const links = { '/projects/app': '/real/app', '/projects/app/db': '/real/app/db' };
    expect(resolve({ project: '{"db": "db"}', links }).refused).toEqual([]);
  });

  test.each([
    ['cache', 'cache', 'builds run commands from the cache'],
    ['compiler', 'tools/iree-compile', 'a project may not choose the compiler'],
    ['fleet', 'postgres://ada:s3cret@host/db', 'a project may not choose a server'],
    ['team', '/mnt/share', 'a project may not choose the team'],
    ['team-token', 'echo', 'a project may not choose commands'],
    ['team-publish', 'now', 'a project may not send your records'],
    ['author', 'ada', 'a project may not sign your records'],
  ])('may never set %s to %s, inside the project or not', (key, value, why) => {
    const { settings, refused } = resolve({ project: JSON.stringify({ [key]: value }) });
    expect(settings).toEqual(resolve({}).settings);
    expect(refused).toEqual([
      `${PATHS.project}:1:2: "${key}" is ignored: ${why}; ` +
        `to allow it, add "/projects/app" to "trusted-projects" in ${PATHS.user}`,
    ]);
  });

  it('cannot trust itself', () => {
    const { settings, refused } = resolve({
      project: '{"trusted-projects": ["/projects/app"], "compiler": "cc"}',
    });
    expect(settings.compiler).toBeUndefined();
    expect(refused[0]).toBe(
      `${PATHS.project}:1:2: "trusted-projects" is ignored: a project cannot trust itself`,
    );
    expect(refused).toHaveLength(2);
  });

  test.each([
    ['the folder itself', { user: '{"trusted-projects": ["/projects/app"]}' }],
    ['a folder above it', { user: '{"trusted-projects": ["/other", "/projects/"]}' }],
    ['a link to it', { user: '{"trusted-projects": ["/link"]}', links: { '/link': '/projects' } }],
    ['all users', { system: '{"trusted-projects": ["/projects/app"]}' }],
  ])('may set everything if the user trusts %s', (_, trust) => {
    const { settings, refused } = resolve({
      project: '{"compiler": "tools/iree-compile", "db": "/shared/tuning.db"}',
      ...trust,
    });
    expect(refused).toEqual([]);
    expect(settings).toMatchObject({
      compiler: '/projects/app/tools/iree-compile',
      database: '/shared/tuning.db',
    });
  });

  test.each(['/projects/ap', '/projects/app/below', '/projects/application'])(
    'is not trusted by %s',
    (path) => {
      const given = { project: '{"compiler": "cc"}', user: `{"trusted-projects": ["${path}"]}` };
      expect(resolve(given).settings.compiler).toBeUndefined();
    },
  );
});

describe('the team', () => {
  it('is one base or several, in their order', () => {
    const addresses = '/mnt/share/tuned, https://host/tuned,file:///srv/a%20b';
    expect(resolve({ env: { IREE_TUNED_TEAM: addresses } }).settings).toMatchObject({
      bases: [
        { kind: 'folder', path: '/mnt/share/tuned' },
        { kind: 'web', url: 'https://host/tuned/' },
        { kind: 'folder', path: '/srv/a b' },
      ],
    });
  });

  test.each(['share/tuned', 'https://ada:s3cret@host/', 'ftp://host/', 'https://host/?a=b', '/a,,/b'])(
    'is no base at %s',
    (text) => {
      expect(resolve({ env: { IREE_TUNED_TEAM: text } }).problems).toHaveLength(1);
    },
  );

  it('is no server any more, and the message has no password', () => {
    const { settings, problems, refused } = resolve({
      env: { IREE_TUNED_TEAM: 'postgres://ada:s3cret@host/db' },
    });
    expect([settings.bases, problems]).toEqual([[], []]);
    expect(refused).toEqual([
      expect.stringContaining('iree-tuned team export postgres://ada:***@host/db FILE'),
    ]);
  });
});
