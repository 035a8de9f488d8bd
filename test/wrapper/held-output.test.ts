// A new plan writes to a scratch file first.
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { program } from '../compiler/support.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

/** Builds with a new plan. The output is a link. @param deed shell code of the tuned compile, with the output in `$out` */
function build(deed: string, output = 'link.vmfb') {
  const folder = temporaryDirectory();
  const executable = program(
    join(folder, 'iree-compile'),
    `for a; do case $before in -o) out=$a ;; esac; before=$a; done
     case $* in *--spec*) ${deed} ;; *) printf original >"$out" ;; esac`,
  );
  writeFileSync(join(folder, 'target.vmfb'), 'before');
  chmodSync(join(folder, 'target.vmfb'), 0o640);
  symlinkSync('target.vmfb', join(folder, 'link.vmfb'));
  writeFileSync(
    join(folder, 'build.ts'),
    `import { PlanRun } from ${JSON.stringify(join(root, 'src/wrapper/plan-run.ts'))};
    const argv = ['in.mlir', '-o', ${JSON.stringify(output)}];
    const args = {
      informational: false, unclear: null, flags: [],
      input: { kind: 'file', path: 'in.mlir', index: 0 }, output: { kind: 'file', path: argv[2] },
    };
    const command = { compiler: { executable: ${JSON.stringify(executable)} }, argv, expanded: argv, arguments: args,
      files: { variables: [], ofCompiler: [], ofFlags: [] } };
    await new PlanRun(
      {
        command, input: { bytes: new Uint8Array(), digest: 'digest' }, kept: null,
        injected: { argv: ['--spec', ...argv], plan: { identity: 'plan', decisions: [] }, files: [], stdin: undefined, mapMessages: null },
        workSeconds: () => 60, mayFallBack: true, onEnd: () => {},
      },
      { env: process.env, cacheDirectory: 'cache', settings: { budgetSeconds: 0, outputs: false }, root: '' },
    ).run();`,
  );
  const { status } = spawnSync(process.execPath, ['--conditions=source', 'build.ts'], { cwd: folder });
  const path = join(folder, 'target.vmfb');
  return {
    status,
    text: readFileSync(path, 'utf8'),
    mode: statSync(path).mode & 0o777,
    isLink: lstatSync(join(folder, 'link.vmfb')).isSymbolicLink(),
  };
}

test('a tuned output replaces the content and keeps link and mode', () => {
  expect(build('printf tuned >"$out"')).toEqual({ status: 0, text: 'tuned', mode: 0o640, isLink: true });
});

test.each(['rm -f "$out"; exit 1', 'printf part >"$out"; kill -KILL $$', 'exit 0'])(
  'a failed tuned compile (%s) leaves link and mode to the original compile',
  (deed) => {
    expect(build(deed)).toEqual({ status: 0, text: 'original', mode: 0o640, isLink: true });
  },
);
