import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { surveyMemory } from '../../src/input/survey-memory.ts';
import { limitFor } from '../../src/plan/injected-command.ts';
import { program } from '../compiler/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { inputOf, matmulText, surroundingsOf } from '../support/inspected.ts';
import { root } from '../support/real-tools.ts';

test(
  'a new plan that works without an end is ended, and the build done without it',
  { timeout: 60_000 },
  () => {
    const folder = temporaryDirectory();
    const executable = program(
      join(folder, 'iree-compile'),
      'echo "$*" >>"${0%/*}/ran"; case $* in *--spec*) while :; do :; done ;; esac; echo original >out.vmfb; echo done',
    );
    writeFileSync(
      join(folder, 'build.ts'),
      `import { PlanRun } from ${JSON.stringify(join(root, 'src/wrapper/plan-run.ts'))};
    import { appendFileSync } from 'node:fs';
    const argv = ['in.mlir', '-o', 'out.vmfb'];
    const args = {
      informational: false, unclear: null, flags: [],
      input: { kind: 'file', path: 'in.mlir', index: 0 }, output: { kind: 'file', path: 'out.vmfb' },
    };
    const command = { compiler: { executable: ${JSON.stringify(executable)} }, argv, expanded: argv, arguments: args,
      files: { variables: [], ofCompiler: [], ofFlags: [] } };
    const note = (what) => appendFileSync('events', JSON.stringify(what) + '\\n');
    await new PlanRun(
      {
        command, input: { bytes: new Uint8Array(), digest: 'digest' }, kept: null,
        injected: { argv: ['--spec', ...argv], plan: { identity: 'plan', decisions: [] }, files: [], stdin: undefined, mapMessages: null },
        workSeconds: () => 1, mayFallBack: true,
        onEnd: ({ fallback }) => note(fallback), onFailure: async (stderr) => note(stderr),
      },
      { env: process.env, cacheDirectory: 'cache', settings: { budgetSeconds: 0, outputs: false }, root: '' },
    ).run();`,
    );
    const build = () => {
      const { status, stdout } = spawnSync(process.execPath, ['--conditions=source', 'build.ts'], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 50_000,
      });
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'done\n' });
      return readFileSync(join(folder, 'ran'), 'utf8');
    };
    const tried = '--spec in.mlir -o out.vmfb\n';
    const original = 'in.mlir -o out.vmfb\n';
    expect(build()).toBe(tried + original);
    // The compiler blames no operation. The plan is not tried again.
    expect(readFileSync(join(folder, 'events'), 'utf8')).toBe(
      '{"code":"tuned-compile-hung","reason":"the tuned compile hung"}\n',
    );
    expect(build()).toBe(tried + original + original);
  },
);

test('the survey, or else the number of operations, sets the limit of a compile, with a minimum for small inputs', () => {
  const surroundings = surroundingsOf();
  const input = inputOf(matmulText(8, 512, 512));
  const [operation] = input.operations;
  const limitOf = (operations: number) =>
    limitFor({ ...input, operations: Array.from({ length: operations }, () => operation!) }, surroundings);
  expect([0, 1, 100].map(limitOf)).toEqual([300, 300, 6000]);
  const limitAfter = (seconds: number) => {
    const { identity } = input;
    surveyMemory.remember(surroundings.cacheDirectory, {
      ...{ identity, operations: [], rewritables: [], seconds },
    });
    return limitOf(100);
  };
  expect(limitAfter(0.2)).toBe(300);
  expect(limitAfter(100)).toBe(60_000);
});
