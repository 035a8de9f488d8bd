import { expect, it } from 'vitest';
import { defaultDatabasePath } from '../../src/store/location.ts';

it.each([
  ['the home directory on Linux', {}, 'linux', '/home/ada/.local/share/iree-tuned/tuning.db'],
  [
    'Application Support on macOS',
    {},
    'darwin',
    '/home/ada/Library/Application Support/iree-tuned/tuning.db',
  ],
  ['XDG_DATA_HOME', { XDG_DATA_HOME: '/data' }, 'linux', '/data/iree-tuned/tuning.db'],
  ['XDG_DATA_HOME on macOS as well', { XDG_DATA_HOME: '/data' }, 'darwin', '/data/iree-tuned/tuning.db'],
  [
    'the home directory when XDG_DATA_HOME is empty',
    { XDG_DATA_HOME: '' },
    'linux',
    '/home/ada/.local/share/iree-tuned/tuning.db',
  ],
  [
    'the home directory when XDG_DATA_HOME is relative',
    { XDG_DATA_HOME: 'data' },
    'linux',
    '/home/ada/.local/share/iree-tuned/tuning.db',
  ],
] as const)('is in %s', (_, env, platform, path) => {
  expect(defaultDatabasePath(env, platform, '/home/ada')).toBe(path);
});
