// Vulkan ignores tuning specs silently: a library brings them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadBackend } from '../../src/backend/index.ts';
import type { VulkanConfiguration } from '../../src/backend/vulkan/configuration.ts';
import { planInjection } from '../../src/inject/plan.ts';
import { proveLanded } from '../../src/inject/landed.ts';
import { specFlags } from '../../src/inject/injection-flags.ts';
import { tuningSpecFlags } from '../../src/spec/tuning.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { inputOf, matmulText } from '../support/inspected.ts';
import { LLVMPIPE_FLAGS } from '../support/vulkan-target.ts';
import { compiler } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { matmulModule } from '../scenarios/support.ts';
import { tunables } from '../../src/input/input.ts';
import { hit, OPTIONS } from './decisions.ts';

const TILE: VulkanConfiguration = {
  ...{ version: 1, kind: 'spirv-tile' },
  ...{ workgroup: [16, 32, 0], thread: [4, 4, 0], reduction: [0, 0, 4] },
};

beforeAll(() => loadBackend('vulkan-spirv'));

test('a configuration lands by a library, and not by a tuning spec', async () => {
  expect(compiler.executable).not.toBe('');
  const folder = temporaryDirectory();
  const path = join(folder, 'in.mlir');
  writeFileSync(path, matmulModule(64, 96, 48));
  const tunable = tunables(inputOf(matmulText(64, 96, 48)))[0]!;
  const decision = hit(tunable, TILE);
  const injection = planInjection([decision], { ...OPTIONS, wanted: 'spec', specFlag: 'library' });
  expect(injection).toMatchObject({ route: 'spec', flag: 'library' });
  if (injection.route !== 'spec') return;
  const spec = join(folder, 'spec.mlir');
  const write = (text: string) => {
    writeFileSync(spec, text);
    return spec;
  };
  const command = { compiler: { executable: rememberingCompiler } };
  const plan = { command, decisions: [decision], injection: { route: 'spec' } } as const;
  const landed = (flags: readonly string[]) =>
    proveLanded(
      { plan, forExecutables: { argv: [...flags, ...LLVMPIPE_FLAGS, path], stdin: undefined } },
      { env: process.env, cacheDirectory: folder },
    );
  expect(await landed(specFlags(injection, write))).toEqual([true]);
  expect(await landed(tuningSpecFlags(spec))).toEqual([false]);
});
