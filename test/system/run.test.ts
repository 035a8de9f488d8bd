// @module-tag slow
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { describe, expect, it, test } from 'vitest';
import { runCompiler, type RunOptions } from '../../src/system/run.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isRunning, matmul, realCompiler, root } from '../compiler/support.ts';
import { program, write } from '../support/scripts.ts';
import { casesOfTier } from '../support/needs.ts';

const directory = temporaryDirectory();
const env = process.env;
const sh = (body: string) => program(join(directory, `program-${String(Math.random()).slice(2)}`), body);

const captured = (file: string, argv: readonly string[] = [], options: Partial<RunOptions> = {}) =>
  runCompiler(file, argv, { env, capture: true, ...options });

describe('a captured run', () => {
  it('passes arguments unchanged', async () => {
    const argv = ['', 'a b', "it's", '"', '\\', '$HOME', '*', 'é', '\n'];
    const run = await captured(sh('printf "%s\\0" "$@"'), argv);
    expect(run.stdout.toString().split('\0').slice(0, -1)).toEqual(argv);
  });
  it('feeds stdin', async () => {
    const run = await captured(sh('cat'), [], { stdin: Buffer.alloc(300_000, 'x') });
    expect(run.stdout.length).toBe(300_000);
  });
  it('works for a program that does not read stdin', async () => {
    const run = await captured(sh('exit 4'), [], { stdin: Buffer.alloc(3_000_000) });
    expect(run.code).toBe(4);
  });
  it('counts the depth of wrappers', async () => {
    const script = sh('echo "$IREE_TUNED_DEPTH"');
    for (const [outside, inside] of [
      [undefined, 1],
      ['1', 2],
      ['nonsense', 1],
    ] as const) {
      const { stdout } = await captured(script, [], { env: { ...env, IREE_TUNED_DEPTH: outside } });
      expect(stdout.toString()).toBe(`${inside}\n`);
    }
  });
  it('rejects only if the program cannot start', async () => {
    await expect(captured(join(directory, 'nowhere'))).rejects.toThrow('ENOENT');
  });
  it('leaves no signal handlers', async () => {
    const before = process.listenerCount('SIGTERM');
    await captured(sh(''));
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });
});

/** Starts a process that runs `code`, with the functions that run and ask a compiler. */
function inProcess(code: string, options: { env?: NodeJS.ProcessEnv; stdio?: 'pipe' } = {}) {
  const module = (path: string) => JSON.stringify(join(root, path));
  const file = join(directory, `main-${String(Math.random()).slice(2)}.mjs`);
  writeFileSync(
    file,
    `import { exitLike, replaceProcess, runCompiler } from ${module('src/system/run.ts')};
import { askCompiler } from ${module('src/compiler/ask.ts')};
${code}`,
  );
  const args = ['--disable-warning=ExperimentalWarning', file];
  return {
    args,
    run: () => spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...env, ...options.env } }),
  };
}

describe('ending like the child', () => {
  test.each(
    casesOfTier(['SIGTERM', 'SIGKILL', 'SIGSEGV', 'SIGINT', 'SIGHUP', 'SIGABRT', 'SIGPIPE', 'SIGXFSZ'], 3),
  )('by %s', (signal) => {
    const script = sh(`ulimit -c 0; kill -${signal.slice(3)} $$`);
    const { run } = inProcess(
      `exitLike(await runCompiler(${JSON.stringify(script)}, [], { env: process.env, capture: false }));`,
    );
    expect(run()).toMatchObject({ status: null, signal });
  });
  test.each(casesOfTier([74, 0, 1, 255], 1))('with code %i', (code) => {
    const { run } = inProcess(
      `exitLike(await runCompiler(${JSON.stringify(sh(`exit ${code}`))}, [], { env: process.env, capture: false }));`,
    );
    expect(run()).toMatchObject({ status: code, signal: null });
  });

  test.each(casesOfTier(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 1))(
    'passes %s on, lets the child clean up, and dies of it',
    async (signal) => {
      const ready = join(directory, `ready-${signal}`);
      const cleaned = join(directory, `cleaned-${signal}`);
      const script = sh(
        `trap 'echo x >${cleaned}; exit 9' ${signal.slice(3)}; echo x >${ready}; while :; do sleep 0.02; done`,
      );
      const { args } = inProcess(
        `exitLike(await runCompiler(${JSON.stringify(script)}, [], { env: process.env, capture: true }));`,
      );
      const child = spawn(process.execPath, args, { stdio: 'ignore' });
      await contentOf(ready);
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([null, signal]);
      expect(existsSync(cleaned)).toBe(true);
    },
  );
});

/** Waits for a script's file, and returns its text. */
async function contentOf(path: string): Promise<string> {
  while (!existsSync(path) || !readFileSync(path, 'utf8').endsWith('\n')) await sleep(10);
  return readFileSync(path, 'utf8').trim();
}

test('a child ends with this process, even after SIGKILL', async () => {
  const started = join(directory, 'started');
  const script = sh(`echo $$ >'${started}'; exec sleep 600`);
  const { args } = inProcess(
    `await runCompiler(${JSON.stringify(script)}, [], { env: process.env, capture: false });`,
  );
  const us = spawn(process.execPath, args, { stdio: 'ignore' });
  const child = Number(await contentOf(started));
  us.kill('SIGKILL');
  await expect.poll(() => isRunning(child), { timeout: 20_000 }).toBe(false);
});

test.each(casesOfTier(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 1))(
  '%s during a question to the compiler ends this process, and removes its scratch folders',
  async (signal) => {
    const ready = join(directory, `asked-${signal}`);
    const cache = join(directory, `cache-${signal}`);
    const script = sh(`echo x >'${ready}'; exec sleep 600`);
    const { args } = inProcess(
      `const { makeScratchFolder } = await import(${JSON.stringify(join(root, 'src', 'system', 'scratch.ts'))});
       makeScratchFolder(${JSON.stringify(cache)}, 'survey');
       await askCompiler(${JSON.stringify(script)}, [], { env: process.env });
       console.log('it went on');`,
    );
    mkdirSync(cache);
    const us = spawn(process.execPath, args, { stdio: 'ignore' });
    await contentOf(ready);
    expect(readdirSync(join(cache, 'work'))).toHaveLength(1);
    us.kill(signal);
    expect(await once(us, 'exit')).toEqual([null, signal]);
    expect(readdirSync(join(cache, 'work'))).toEqual([]);
  },
);

describe('becoming the compiler', () => {
  const echo = existsSync('/bin/echo') ? '/bin/echo' : '/usr/bin/echo';
  const become = (executable: string, argv: string[], before = '') =>
    inProcess(
      `${before} await replaceProcess(${JSON.stringify(executable)}, ${JSON.stringify(argv)}, process.env);`,
    );

  it('keeps the process id and prints nothing', async ({ skip }) => {
    // A native program that prints its process id.
    const { args } = become('/bin/readlink', ['/proc/self']);
    skip(!existsSync('/proc/self') || !existsSync('/bin/readlink'), 'there is no such program');
    const child = execa(process.execPath, args, { all: true, stdin: 'ignore' });
    expect((await child).all).toBe(String(child.pid));
  });
  test.each([
    ['a script, with its code', 'exit 7', 7],
    ['a script, with its output', 'echo "$@"; exit 0', 0],
  ])('runs %s', (_, body, code) => {
    expect(become(sh(body), ['a b']).run()).toMatchObject({
      status: code,
      stdout: code === 0 ? 'a b\n' : '',
      stderr: '',
    });
  });
  it('falls back to a child without execve', () => {
    expect(become(echo, ['x'], 'delete process.execve; process.execve = undefined;').run()).toMatchObject({
      status: 0,
      stdout: 'x\n',
      stderr: '',
    });
  });
  it('accepts very long command lines', () => {
    const argv = Array.from({ length: 3000 }, (_, i) => `${i}-${'x'.repeat(50)}`);
    expect(become(echo, argv).run().stdout.length).toBeGreaterThan(150_000);
  });
  it('never aborts, for any kind of program', () => {
    const text = write(join(directory, 'text'), 'just text', 0o755);
    const data = write(join(directory, 'data'), 'x', 0o644);
    for (const path of [join(directory, 'nowhere'), directory, text, data]) {
      const run = become(path, []).run();
      expect([run.signal, run.stderr.includes('Native stack trace')]).toEqual([null, false]);
    }
  });
  describe.runIf(process.platform === 'linux')('preserves', () => {
    // Settings of the process that differ from the defaults.
    const within = ['-c', 'cd /; umask 027; ulimit -n 300; ulimit -c 0; exec nice -n 3 "$@"', 'sh'];
    const lines = (run: SpawnSyncReturns<string>) => run.stdout.split('\n').filter((line) => line !== '');
    const both = (executable: string, argv: string[]) => {
      const direct = spawnSync('/bin/sh', [...within, executable, ...argv], { encoding: 'utf8' });
      const { args } = become(executable, argv);
      const ours = spawnSync('/bin/sh', [...within, process.execPath, ...args], { encoding: 'utf8' });
      return { direct: lines(direct), ours: lines(ours) };
    };
    it('signals and umask', () => {
      const { direct, ours } = both('/bin/cat', ['/proc/self/status']);
      const kept = (all: string[]) =>
        all.filter((line) => /^(?:Sig(?:Ign|Blk|Cgt)|Umask|NoNewPrivs)/.test(line));
      expect(kept(ours)).toEqual(kept(direct));
      expect(kept(ours)).toContain('SigIgn:\t0000000000000000');
    });
    it('limits and niceness', () => {
      const limits = both('/bin/cat', ['/proc/self/limits']);
      expect(limits.ours).toEqual(limits.direct);
      const nice = (stat: string[]) => stat[0]!.split(') ')[1]!.split(' ')[16];
      const stat = both('/bin/cat', ['/proc/self/stat']);
      // Some machines lower the priority of long commands, such as the test runner.
      const expected = String(Math.min(getPriority() + 3, 19));
      expect([nice(stat.ours), nice(stat.direct)]).toEqual([expected, expected]);
    });
    it('working directory and files', () => {
      const folder = both('/bin/readlink', ['/proc/self/cwd']);
      expect([folder.ours, folder.direct]).toEqual([['/'], ['/']]);
      const files = both('/bin/ls', ['/proc/self/fd']);
      expect(files.ours).toEqual(files.direct);
    });
  });
  it('adds one to the depth of wrappers', () => {
    const run = inProcess(
      `await replaceProcess(process.execPath, ['-p', 'process.env.IREE_TUNED_DEPTH'], { ...process.env, UNSET: undefined });`,
    ).run();
    expect(run).toMatchObject({ status: 0, stdout: '1\n' });
  });

  describe.skipIf(realCompiler === null)('the real one', { tags: ['compiler'] }, () => {
    const executable = realCompiler?.executable ?? '';
    const same = (argv: string[]) => {
      const direct = spawnSync(executable, argv, { encoding: 'utf8', cwd: directory });
      const { args } = become(executable, argv);
      const ours = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: directory });
      const { status, signal, stdout, stderr } = direct;
      expect(ours).toMatchObject({ status, signal, stdout, stderr });
      return direct;
    };
    write(join(directory, 'm.mlir'), matmul);

    it('compiles to the same bytes', { tags: 'full' }, () => {
      const flags = ['--iree-hal-target-backends=llvm-cpu', '--iree-llvmcpu-target-cpu=host', 'm.mlir', '-o'];
      expect(same([...flags, 'direct.vmfb']).status).toBe(0);
      const { args } = become(executable, [...flags, 'ours.vmfb']);
      expect(spawnSync(process.execPath, args, { cwd: directory }).status).toBe(0);
      expect(statSync(join(directory, 'ours.vmfb')).size).toBeGreaterThan(1000);
      const [ours, direct] = ['ours', 'direct'].map((name) => readFileSync(join(directory, `${name}.vmfb`)));
      expect(ours!.equals(direct!)).toBe(true);
    });
    test.each([
      ['a compile to stdout', ['m.mlir', '--compile-to=input']],
      ['a usage error', ['m.mlir', '--no-such-flag']],
      ['a missing file', ['nowhere.mlir']],
      ['the version', ['--version']],
      ['much output', ['--help-hidden']],
    ])('is the same for %s', (_, argv) => {
      same(argv);
    });
    it('ends with 74 on a closed stdout', () => {
      const { args } = become(executable, ['--help-hidden']);
      const script = '"$@" | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"';
      const run = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], { encoding: 'utf8' });
      expect(run.stdout.trim()).toBe('74');
    });
  });
});

describe('consumed stdin', () => {
  const become = (executable: string) => {
    const script = join(directory, 'fed.ts');
    writeFileSync(
      script,
      `import { replaceProcessFed } from ${JSON.stringify(join(root, 'src/system/run.ts'))};
      replaceProcessFed(${JSON.stringify(executable)}, [], Buffer.from('what was read'), process.env, new Error('spawn EMFILE'));`,
    );
    return spawnSync(process.execPath, ['--conditions=source', script], {
      input: 'the rest',
      encoding: 'utf8',
    });
  };

  test('reaches the program that this process becomes, if no child can start', () => {
    expect(become('/bin/cat')).toMatchObject({ status: 0, stdout: 'what was read', stderr: '' });
  });

  test('is never lost silently', () => {
    expect(become('/nowhere/iree-compile')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'iree-compile-tuned: /nowhere/iree-compile cannot be run: spawn EMFILE\n',
    });
  });
});
