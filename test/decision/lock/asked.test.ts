// Programs as lock files are asked about them.
import { expect, test } from 'vitest';
import { askedOf } from '../../../src/decision/lock/asked.ts';
import { commandOf, siteOf, surroundingsOf } from '../../support/inspected.ts';

test('builds of one version and commit of the compiler share their lock files', () => {
  const site = siteOf();
  const { settings } = surroundingsOf();
  const asked = (key: string) =>
    askedOf(
      commandOf('in.mlir'),
      'digest',
      { ...site, compiler: { ...site.compiler, key } },
      settings,
      'iree-tuned.lock',
    ).compiler;
  const { key } = site.compiler;
  expect([asked(key), asked(`${key}+0123456789`)]).toEqual([key, key]);
  expect(asked('3.14.0@cccccccccc')).toBe('3.14.0@cccccccccc');
});
