import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFINITIONS, NAMES } from '../../src/settings/settings.ts';

// Without a working Node, the launcher runs the real compiler, and takes our settings out of the arguments itself.
test('the launcher knows the settings that take a value', () => {
  const launcher = readFileSync(join(import.meta.dirname, '../../bin/iree-compile-tuned'), 'utf8');
  const listed = [...launcher.matchAll(/\bflag:([a-z-]+)(?= \||\))/g)].map(([, name]) => name!);
  const withValue = NAMES.filter((name) => DEFINITIONS[name].type !== 'boolean');
  expect(new Set(listed)).toEqual(new Set(withValue));
});
