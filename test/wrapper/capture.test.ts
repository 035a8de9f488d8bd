// A compile whose output goes to stdout, which a new plan captures first.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { program } from '../compiler/support.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

/** @param deed shell code of the tuned compile */
function build(deed: string, redirection = '') {
  const folder = temporaryDirectory();
  const executable = program(
    join(folder, 'iree-compile'),
    `case $* in *--spec*) ${deed} ;; *) printf original; echo warned >&2 ;; esac`,
  );
  writeFileSync(
    join(folder, 'build.ts'),
    `import { PlanRun } from ${JSON.stringify(join(root, 'src/wrapper/plan-run.ts'))};
    import { writeFileSync } from 'node:fs';
    const peak = () => process.resourceUsage().maxRSS / 1024;
    const before = peak();
    process.on('exit', () => writeFileSync('mebibytes', String(peak() - before)));
    const argv = ['in.mlir'];
    const args = {
      informational: false, unclear: null, flags: [],
      input: { kind: 'file', path: 'in.mlir', index: 0 }, output: { kind: 'stdout' },
    };
    const files = { variables: [], ofCompiler: [], ofFlags: [] };
    const command = { compiler: { executable: ${JSON.stringify(executable)} }, argv, expanded: argv, arguments: args, files };
    await new PlanRun(
      {
        command, input: { bytes: new Uint8Array(), digest: 'digest' }, kept: null,
        injected: { argv: ['--spec', ...argv], plan: { identity: 'plan', decisions: [] }, files: [], stdin: undefined, mapMessages: null },
        workSeconds: () => 60, mayFallBack: true, onEnd: () => {},
      },
      { env: process.env, cacheDirectory: 'cache', settings: { budgetSeconds: 0, outputs: false }, root: '' },
    ).run();`,
  );
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    [
      '-c',
      `"$0" --conditions=source build.ts ${redirection}; code=$?; cat mebibytes >&2; exit $code`,
      process.execPath,
    ],
    { cwd: folder, encoding: 'latin1', maxBuffer: 2 ** 20 },
  );
  const [, said, mebibytes] = /^([^]*?)([\d.]*)$/.exec(stderr)!;
  return { status, stdout, said, mebibytes: Number(mebibytes) };
}

test('shows stdout and messages as they are', () => {
  expect(build("printf 'a\\0b'; echo warned >&2")).toMatchObject({
    status: 0,
    stdout: 'a\0b',
    said: 'warned\n',
  });
});

test('leaves nothing of a failed compile', () => {
  expect(build('printf part; echo wrong >&2; exit 1')).toMatchObject({
    ...{ status: 0, stdout: 'original', said: 'warned\n' },
  });
});

test('needs no memory for stdout', () => {
  const { status, stdout, mebibytes } = build('head -c 400000000 /dev/zero', '| wc -c');
  expect({ status, stdout }).toEqual({ status: 0, stdout: '400000000\n' });
  expect(mebibytes).toBeLessThan(100);
});
