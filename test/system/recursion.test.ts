import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment, launcherMarker } from '../../src/system/recursion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { root } from '../compiler/support.ts';
import { program } from '../support/scripts.ts';

describe("a child's environment", () => {
  const at = temporaryDirectory();
  const us = (name: string) => dirname(program(join(at, name, 'iree-compile'), `# ${launcherMarker}`));
  const shims = us('shims');
  for (const name of ['iree-opt', 'iree-run-module', 'lld', '.DS_Store']) program(join(shims, name), '');
  const shared = us('shared');
  program(join(shared, 'helper'), '');
  const linked = join(at, 'linked');
  mkdirSync(linked);
  symlinkSync(join(root, 'bin/iree-compile-tuned'), join(linked, 'iree-compile'));
  const real = dirname(program(join(at, 'real/iree-compile'), ''));

  it('is the same, one level deeper', () => {
    const env = { A: 'b', PATH: `:${real}::/nowhere:`, IREE_TOOL_PATH: real };
    expect(childEnvironment(env)).toEqual({ ...env, IREE_TUNED_DEPTH: '1' });
    expect(childEnvironment({ IREE_TUNED_DEPTH: '1' })).toEqual({ IREE_TUNED_DEPTH: '2' });
    expect(childEnvironment({ PATH: '', IREE_TOOL_PATH: '' })).toMatchObject({
      PATH: '',
      IREE_TOOL_PATH: '',
    });
  });
  it('has no folder with the wrapper in IREE_TOOL_PATH', () => {
    const path = [shims, '/nowhere', shared, linked, real].join(':');
    expect(childEnvironment({ IREE_TOOL_PATH: path }).IREE_TOOL_PATH).toBe(`/nowhere:${real}`);
    expect(childEnvironment({ IREE_TOOL_PATH: shims })).toEqual({ IREE_TUNED_DEPTH: '1' });
  });
  it('has no folder with the wrapper in PATH, except one with other programs', () => {
    const path = [shims, real, shared, linked].join(':');
    expect(childEnvironment({ PATH: path }).PATH).toBe(`${real}:${shared}`);
    expect(childEnvironment({ PATH: shims })).toEqual({ IREE_TUNED_DEPTH: '1' });
  });
  it("lacks the shim's variable", () => {
    expect(childEnvironment({ IREE_TUNED_SHIM_FOR: '/x' })).toEqual({ IREE_TUNED_DEPTH: '1' });
  });
});
