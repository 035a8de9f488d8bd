// A new plan of a scripted compiler, which a process of its own runs.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../support/scripts.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

interface Options {
  /** The output's path; without one the output goes to stdout. */
  readonly output?: string;
  /** Seconds of work that the compile may take. */
  readonly workSeconds?: number;
  /** Code of the process before the plan. */
  readonly before?: string;
}

/** @param script of the compiler: `--spec` is among the words of a tuned compile */
export function planPlace(script: string, { output, workSeconds = 60, before = '' }: Options = {}) {
  const folder = temporaryDirectory();
  const executable = program(join(folder, 'iree-compile'), script);
  const argv = ['in.mlir', ...(output === undefined ? [] : ['-o', output])];
  const args = {
    ...{ informational: false, unclear: null, flags: [] },
    input: { kind: 'file', path: 'in.mlir', index: 0 },
    output: output === undefined ? { kind: 'stdout' } : { kind: 'file', path: output },
  };
  const files = { variables: [], ofCompiler: [], ofFlags: [] };
  const command = { compiler: { executable }, argv, expanded: argv, arguments: args, files };
  writeFileSync(
    join(folder, 'build.ts'),
    `import { PlanRun } from ${JSON.stringify(join(root, 'src/wrapper/plan-run.ts'))};
    import { appendFileSync, writeFileSync } from 'node:fs';
    ${before}
    const command = ${JSON.stringify(command)};
    const note = (what) => appendFileSync('events', JSON.stringify(what) + '\\n');
    await new PlanRun(
      {
        command, input: { bytes: new Uint8Array(), digest: 'digest' }, kept: null,
        injected: { argv: ['--spec', ...command.argv], plan: { identity: 'plan', decisions: [] }, files: [], stdin: undefined, mapMessages: null },
        workSeconds: () => ${workSeconds}, mayFallBack: true,
        onEnd: ({ fallback }) => note(fallback), onFailure: async (stderr) => note(stderr),
      },
      { env: process.env, cacheDirectory: 'cache', settings: { budgetSeconds: 0, outputs: false }, root: '' },
    ).run();`,
  );
  return {
    folder,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /** Runs the plan, as a command line of the shell with this end. */
    build: (end = '') =>
      spawnSync('/bin/sh', ['-c', `"$0" --conditions=source build.ts ${end}`, process.execPath], {
        ...{ cwd: folder, encoding: 'latin1', maxBuffer: 2 ** 20, timeout: 50_000 },
      }),
  };
}
