import { describe, expect, it, test } from 'vitest';
import { homeDirectory, userPaths } from '../../src/settings/files.ts';

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
