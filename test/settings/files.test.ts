import { chownSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import {
  findLockFile,
  homeDirectory,
  LOCK_FILE,
  mayOverwrite,
  PROJECT_FILE,
  projectFolder,
  readSettingsFiles,
  realPath,
  userPaths,
} from '../../src/settings/files.ts';
import { temporaryDirectory } from '../support/folders.ts';

const original = process.cwd();
afterEach(() => {
  process.chdir(original);
});

/** A new working directory, without links in its path. */
function project(): string {
  const folder = realpathSync(temporaryDirectory());
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  process.chdir(join(folder, 'a/b'));
  return folder;
}

const read = (home = '/no/such/home') => readSettingsFiles(userPaths({}, 'linux', home).settings, home);

describe("the project's file", () => {
  it('is the nearest one above the working directory', () => {
    const folder = project();
    expect(read()[0]).toEqual({
      layer: 'project',
      path: join(folder, 'a/b', PROJECT_FILE),
      text: null,
      problem: null,
    });
    writeFileSync(join(folder, PROJECT_FILE), 'far');
    expect(read()[0]).toMatchObject({ path: join(folder, PROJECT_FILE), text: 'far' });
    writeFileSync(join(folder, 'a', PROJECT_FILE), 'near');
    expect(read()[0]).toMatchObject({ path: join(folder, 'a', PROJECT_FILE), text: 'near' });
  });

  it('that is a folder is a problem, and ends the search', () => {
    const folder = project();
    writeFileSync(join(folder, PROJECT_FILE), 'far');
    mkdirSync(join(folder, 'a', PROJECT_FILE));
    expect(read()[0]).toMatchObject({
      path: join(folder, 'a', PROJECT_FILE),
      text: null,
      problem: 'it is not a file',
    });
  });

  it('is not searched for in a removed working directory', () => {
    const folder = project();
    rmSync(join(folder, 'a'), { recursive: true });
    expect(read()[0]).toMatchObject({ layer: 'project', text: null });
  });
});

describe('files of another user', () => {
  const isRoot = process.getuid?.() === 0;

  it.skipIf(!isRoot)('is ignored, and the reason is told', () => {
    const folder = project();
    for (const name of [PROJECT_FILE, LOCK_FILE]) {
      writeFileSync(join(folder, name), '{}');
      chownSync(join(folder, name), 12345, 12345);
    }
    const problem = 'it belongs to another user';
    expect(read()[0]).toMatchObject({ path: join(folder, PROJECT_FILE), text: null, problem });
    expect(findLockFile(null, '/')).toEqual({
      path: null,
      problem: `${join(folder, LOCK_FILE)} is ignored: ${problem}; set IREE_TUNED_LOCK to use it`,
    });
  });

  it.skipIf(!isRoot)('ends the search, if it is a folder above', () => {
    const folder = project();
    writeFileSync(join(folder, PROJECT_FILE), '{}');
    expect(read()[0]!.text).toBe('{}');
    chownSync(folder, 12345, 12345);
    expect(read()[0]).toMatchObject({ text: null, problem: null });
  });

  it('does not lie above the home folder', () => {
    const folder = project();
    writeFileSync(join(folder, PROJECT_FILE), '{}');
    expect(read(join(folder, 'a'))[0]).toMatchObject({ text: null, problem: null });
    expect(read(folder)[0]).toMatchObject({ text: '{}' });
  });
});

describe("the user's file", () => {
  it('is read from the home directory', () => {
    const home = temporaryDirectory();
    mkdirSync(join(home, '.config/iree-tuned'), { recursive: true });
    const path = join(home, '.config/iree-tuned/config.json');
    writeFileSync(path, '{}');
    expect(read(home)[1]).toEqual({ layer: 'user', path, text: '{}', problem: null });
  });

  it('is missing if the home is a file', () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(read(file)[1]).toMatchObject({ layer: 'user', text: null });
  });
});

describe('a real path', () => {
  it('exists for a new file, and not for a dangling link', () => {
    const folder = realpathSync(temporaryDirectory());
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    expect(realPath(join(folder, 'link/new/file'))).toBe(join(folder, 'real/new/file'));
    expect(realPath(join(folder, 'dangling'))).toBeNull();
    expect(realPath(join(folder, 'dangling/file'))).toBeNull();
  });
});

describe('an output file that a project names', () => {
  it.each([
    ['explain', '{\n  "version": 1,\n  "compiler": {}', true],
    ['explain', '{\n  "version": 1,\n  "name": "x"', false],
    ['log', '2026-11-26T04:00:00.000Z tuned', true],
    ['log', 'all:\n\tcc main.c', false],
    ['log', '', true],
  ] as const)('%s: %j', (name, text, expected) => {
    const path = join(temporaryDirectory(), 'file');
    expect(mayOverwrite(name, path)).toBe(true);
    writeFileSync(path, text);
    expect(mayOverwrite(name, path)).toBe(expected);
  });

  it('must not be a folder', () => {
    expect(mayOverwrite('log', temporaryDirectory())).toBe(false);
  });
});

describe('a lock file', () => {
  it('is the nearest one above the working directory, even if unreadable, and none above the project', () => {
    const folder = project();
    expect(findLockFile(null, '/').path).toBeNull();
    writeFileSync(join(folder, LOCK_FILE), 'far');
    expect(findLockFile(null, '/').path).toBe(join(folder, LOCK_FILE));
    expect(findLockFile(folder, '/').path).toBe(join(folder, LOCK_FILE));
    expect(findLockFile(join(folder, 'a'), '/').path).toBeNull();
    mkdirSync(join(folder, 'a', LOCK_FILE));
    expect(findLockFile(null, '/').path).toBe(join(folder, 'a', LOCK_FILE));
  });

  it('is searched for up to the folder of the settings file in use', () => {
    const folder = project();
    expect(projectFolder(read())).toBeNull();
    writeFileSync(join(folder, 'a', PROJECT_FILE), '{}');
    expect(projectFolder(read())).toBe(join(folder, 'a'));
  });

  it('is not searched for in a removed working directory', () => {
    const folder = project();
    rmSync(join(folder, 'a'), { recursive: true });
    expect(findLockFile(null, '/').path).toBeNull();
  });
});

describe.each([
  [
    'database',
    'XDG_DATA_HOME',
    '/tuning.db',
    '/home/ada/.local/share',
    '/home/ada/Library/Application Support',
  ],
  ['cache', 'XDG_CACHE_HOME', '', '/home/ada/.cache', '/home/ada/Library/Caches'],
  [
    'settings',
    'XDG_CONFIG_HOME',
    '/config.json',
    '/home/ada/.config',
    '/home/ada/Library/Application Support',
  ],
] as const)('the path of the %s', (location, variable, name, onLinux, onMac) => {
  test.each([
    ['where Linux keeps such files', {}, 'linux', onLinux],
    ['where macOS keeps them', {}, 'darwin', onMac],
    ['where the variable says', { [variable]: '/xdg' }, 'linux', '/xdg'],
    ['where the variable says on macOS as well', { [variable]: '/xdg' }, 'darwin', '/xdg'],
    ['not at an empty variable', { [variable]: '' }, 'linux', onLinux],
    ['not at a relative one', { [variable]: 'xdg' }, 'linux', onLinux],
  ] as const)('is %s', (_, env, platform, base) => {
    expect(userPaths(env, platform, '/home/ada')[location]).toBe(`${base}/iree-tuned${name}`);
  });
});

describe('the home directory', () => {
  it('is HOME', () => {
    expect(homeDirectory({ HOME: '/home/ada' })).toBe('/home/ada');
  });
  it.each([undefined, '', 'relative'])('is known when HOME is %j', (HOME) => {
    expect(homeDirectory({ HOME })).toMatch(/^\//);
  });
});
