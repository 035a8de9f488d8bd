// Tools on another machine: an OpenSSH server of this machine, with its own folder for temporary files.
// In full after a change of src/runner.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runTool, StoppedError } from '../../src/measure/toolchain.ts';
import { askFacts } from '../../src/runner/facts.ts';
import {
  factsFolder,
  isDescribed,
  KEPT,
  runnerOf,
  standIn,
  TOOLS,
  type Runner,
} from '../../src/runner/runner.ts';
import { openSession } from '../../src/runner/session.ts';
import { sentFor } from '../../src/runner/remote-tool.ts';
import { architecture, coresIn, cpuModel } from '../../src/system/processor.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { program, write } from '../support/scripts.ts';
import { sshServer, whyNoSsh } from '../support/ssh-server.ts';

test('files of arguments go there and come back', () => {
  const { argv, puts, gets } = sentFor(
    [
      '--module=/a/m.vmfb',
      '--input=2xf32=@/a/x.bin',
      '--input=@/a/y.npy',
      '--input=3xf32=1',
      '--parameters=model=/a/w.irpa',
      '--output=@/a/out.bin',
      '--device=local-sync',
    ],
    (path) => `there-${path.split('/').at(-1)!}`,
  );
  expect(argv.slice(0, 5)).toEqual([
    '--module=there-m.vmfb',
    '--input=2xf32=@there-x.bin',
    '--input=@there-y.npy',
    '--input=3xf32=1',
    '--parameters=model=there-w.irpa',
  ]);
  expect(argv[5]).toMatch(/^--output=@out-\d+-0\.bin$/);
  expect([...puts.values()]).toEqual(['/a/m.vmfb', '/a/x.bin', '/a/y.npy', '/a/w.irpa']);
  expect([...gets.values()]).toEqual(['/a/out.bin']);
});

test('a command runs the tools here, and needs no session', async () => {
  const cache = temporaryDirectory();
  const runner = runnerOf({ runner: 'env X=1', runnerTools: '/tools' }, cache)!;
  expect(readFileSync(standIn(runner, 'iree-run-module', root), 'utf8')).toBe(
    '#!/bin/sh\nexec env X=1 /tools/iree-run-module "$@"\n',
  );
  using session = await openSession(runner, 0);
  expect(session).not.toBeNull();
});

test('a command without a shell describes nothing', async () => {
  const runner = runnerOf({ runner: 'false' }, temporaryDirectory())!;
  expect([await askFacts(runner), isDescribed(runner)]).toEqual([null, false]);
});

/** A wheel whose tools are scripts with this text. */
const wheelOfScripts = (text: string): Uint8Array =>
  zipSync(
    Object.fromEntries(TOOLS.map((name) => [`iree/_runtime_libs/${name}`, strToU8(`#!/bin/sh\n${text}\n`)])),
  );

/** How a test disturbs the other machine. */
interface Machine {
  /** The path to search for programs. */
  readonly path: string;
  /** Ends the link in the middle of the command that started last; no other gets an answer. */
  readonly stop: () => void;
  readonly start: () => void | Promise<void>;
  readonly close: () => void;
}

/** Writes a program that takes adb's command line, and is the device. Its home is not writable. */
function adbMachine(temporary: string): Machine {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  const settings = join(temporary, 'home', '.bashrc');
  const text = `[ ! -e '${at('stopped')}' ] || exit 1
case "$1 $2 $3 $4" in '-s phone shell -T') shift 4 ;; *) exit 1 ;; esac
echo $$ >'${at('pid')}'
[ ! -e '${settings}' ] || . '${settings}'
TMPDIR='${temporary}' HOME=/proc exec sh -c "$*"`;
  mkdirSync(join(temporary, 'home'));
  program(at('adb'), text);
  return {
    path: `${folder}:${process.env['PATH'] ?? ''}`,
    stop: () => {
      writeFileSync(at('stopped'), '');
      process.kill(Number(readFileSync(at('pid'), 'utf8')), 'SIGKILL');
    },
    start: () => {
      rmSync(at('stopped'));
    },
    close: () => undefined,
  };
}

const WAYS = [
  { way: 'adb', address: 'adb://phone' },
  ...(isWithout(whyNoSsh) ? [] : [{ way: 'ssh', address: 'ssh://board' }]),
];

describe.each(WAYS)('over $way', { tags: 'full' }, ({ way, address }) => {
  const there = temporaryDirectory();
  const tools = temporaryDirectory();
  const path = process.env['PATH'];
  let machine: Machine;
  beforeAll(async () => {
    machine = way === 'ssh' ? await sshServer(there) : adbMachine(there);
    process.env['PATH'] = machine.path;
  });
  afterAll(() => {
    machine.close();
    process.env['PATH'] = path;
  });
  /** Writes the tool of the other machine. */
  const tool = (text: string) => program(join(tools, 'iree-run-module'), text);
  /** A program that opens a session as `open`. @returns its path */
  const sessionScript = (wanted: Runner, rest: string) =>
    write(
      join(cache, 'session.ts'),
      `import { openSession } from '${join(root, 'src/runner/session.ts')}';
const open = openSession(${JSON.stringify(wanted)}, 5);
${rest}
`,
    );
  let cache: string;
  let runner: ReturnType<typeof runnerOf> & object;
  beforeEach(() => {
    cache = temporaryDirectory();
    runner = runnerOf({ runner: address, runnerTools: tools }, cache)!;
  });
  const run = (argv: readonly string[], seconds = 20, signal = new AbortController().signal) =>
    runTool(standIn(runner, 'iree-run-module', root), argv, seconds, signal);
  const foldersThere = () => readdirSync(there).filter((name) => name.startsWith('iree-tuned.'));

  test('the machine describes itself', async () => {
    expect(await askFacts(runner)).toBeNull();
    const files = factsFolder(runner);
    expect([cpuModel(files), coresIn(files), architecture(files)]).toEqual([
      cpuModel(),
      coresIn(''),
      process.arch,
    ]);
  });

  test('a tool reads files, writes files, and ends as it does there', async () => {
    const [from, to] = [join(cache, 'in put.bin'), join(cache, 'out.bin')];
    writeFileSync(from, 'content');
    tool(`for one; do case $one in
      --input=*@*) cat "\${one##*@}" ;;
      --output=@*) echo written >"\${one#--output=@}" ;;
    esac; done; echo told >&2; pwd`);
    using _ = await openSession(runner, 5);
    for (const again of [false, true]) {
      const { ok, stdout, stderr } = await run([`--input=@${from}`, `--output=@${to}`]);
      expect([again, ok, stdout.startsWith(`content${there}/iree-tuned.`), stderr]).toEqual([
        again,
        true,
        true,
        'told\n',
      ]);
      expect(readFileSync(to, 'utf8')).toBe('written\n');
    }
    tool('exit 3');
    expect((await run([])).ending).toBe('exit code 3');
    tool('kill -SEGV $$');
    expect((await run([])).ok).toBe(false);
  });

  test('the folder there ends with the session, and one build measures at a time', async () => {
    const session = await openSession(runner, 5);
    expect(foldersThere()).toHaveLength(1);
    const other = runnerOf({ runner: address, runnerTools: tools }, temporaryDirectory())!;
    expect(await openSession(other, 0)).toBeNull();
    session!.release();
    await expect.poll(foldersThere, { timeout: 4000 }).toEqual([]);
    using next = await openSession(other, 5);
    expect(next).not.toBeNull();
  });

  test('a tool ends with its time here, and leaves no process there', async () => {
    const marker = join(there, 'marker');
    tool(`echo $$ >${marker}; exec sleep 60`);
    using _ = await openSession(runner, 5);
    const { timedOut } = await run([], 2);
    expect(timedOut).toBe(true);
    const pid = Number(readFileSync(marker, 'utf8'));
    const isGone = () => spawnSync('kill', ['-0', String(pid)]).status !== 0;
    await expect.poll(isGone, { timeout: 4000 }).toBe(true);
    rmSync(marker);
  });

  test('a killed build leaves no folder there', async () => {
    const script = sessionScript(
      runner,
      `await open;
process.stdout.write('open');
setTimeout(() => undefined, 60_000);`,
    );
    const build = spawn(process.execPath, ['--conditions=source', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => build.stdout.once('data', resolve));
    expect(foldersThere()).toHaveLength(1);
    build.kill('SIGKILL');
    await expect.poll(foldersThere, { timeout: 4000 }).toEqual([]);
  });

  test.each([
    ['there is no session', () => Promise.resolve(), /no session/],
    [
      'its disk was cleared',
      () => {
        for (const name of foldersThere()) rmSync(join(there, name), { recursive: true });
        return Promise.resolve();
      },
      /has lost the files of this build|could not be sent/,
    ],
  ])('a run says nothing about the module if %s', async (name, fault, reason) => {
    tool('exit 1');
    using session = name === 'there is no session' ? null : await openSession(runner, 5);
    await fault();
    expect(session === null).toBe(name === 'there is no session');
    const argv = [`--module=${join(tools, 'iree-run-module')}`];
    await expect(run(argv)).rejects.toThrow(reason);
    await expect(run(argv)).rejects.toBeInstanceOf(StoppedError);
  });

  test('a link that breaks in the middle says nothing about the module', async () => {
    tool('sleep 1; echo {}');
    using _ = await openSession(runner, 5);
    const running = run([]);
    await sleep(400);
    machine.stop();
    await expect(running).rejects.toBeInstanceOf(StoppedError);
    await expect(openSession(runner, 1)).rejects.toThrow(/does not answer/);
    await machine.start();
  });

  test('a tool that reads no file needs no session', async () => {
    tool('echo a device');
    expect((await run(['--list_devices'])).stdout).toBe('a device\n');
  });

  test('a result that is here does not come again', async () => {
    const to = join(cache, 'out.bin');
    tool('for one; do case $one in --output=@*) echo same >"${one#--output=@}" ;; esac; done');
    using _ = await openSession(runner, 5);
    for (const text of ['same', 'kept']) {
      expect((await run([`--output=@${to}`])).stderr).toBe('');
      expect(readFileSync(to, 'utf8').trim()).toBe(text);
      const [kept] = readdirSync(join(runner.folder, KEPT));
      writeFileSync(join(runner.folder, KEPT, kept!), 'kept');
    }
    expect(readdirSync(join(there, foldersThere()[0]!))).toEqual([]);
  });

  test('tools run on the processors of the setting', async () => {
    runner = runnerOf({ runner: address, runnerTools: tools, runnerCpus: '0' }, cache)!;
    tool('grep Cpus_allowed_list /proc/self/status');
    expect((await run([])).stdout).toMatch(/:\s0\n/);
    expect(await askFacts(runner)).toBeNull();
    expect([coresIn(factsFolder(runner)), cpuModel(factsFolder(runner))]).toEqual([1, cpuModel()]);
  });

  test('tools of a wheel are sent once', async () => {
    const kept = way === 'ssh' ? join(there, 'home', '.cache') : there;
    const wheel = join(cache, 'iree_base_runtime.whl');
    writeFileSync(wheel, wheelOfScripts('echo from a wheel'));
    runner = runnerOf({ runner: address, runnerTools: wheel }, cache)!;
    for (const isSent of [false, true]) {
      using session = await openSession(runner, 5);
      expect([isSent, session === null]).toEqual([isSent, false]);
      expect((await run([])).stdout).toBe('from a wheel\n');
      const folder = readdirSync(kept).find((name) => name.startsWith('iree-tuned-tools-'));
      expect(readdirSync(join(kept, folder!)).sort()).toEqual([...TOOLS].sort());
    }
    writeFileSync(wheel, 'not a wheel');
    await expect(openSession(runner, 5)).rejects.toThrow(/is not readable as a wheel/);
  });

  test('a greeting of the shell there is in no stdout and no result', async () => {
    const settings = join(there, 'home', '.bashrc');
    writeFileSync(settings, 'echo hello\n');
    const wheel = join(cache, 'iree_base_runtime.whl');
    writeFileSync(wheel, wheelOfScripts('echo from a wheel'));
    const own = runnerOf({ runner: address, runnerTools: wheel }, cache)!;
    const script = sessionScript(own, '(await open).release();');
    const { exitCode, stdout } = await execa(process.execPath, ['--conditions=source', script], {
      reject: false,
    });
    expect([exitCode, stdout]).toEqual([0, '']);
    const to = join(cache, 'out.bin');
    tool('for one; do case $one in --output=@*) echo written >"${one#--output=@}" ;; esac; done; echo told');
    using _ = await openSession(runner, 5);
    expect((await run([`--output=@${to}`])).stdout).toBe('told\n');
    expect(readFileSync(to, 'utf8')).toBe('written\n');
    rmSync(settings);
  });

  test('a missing tool is no fault of a module', async () => {
    rmSync(join(tools, 'iree-run-module'), { force: true });
    using _ = await openSession(runner, 5);
    await expect(run([])).rejects.toThrow(/is not found on (?:ssh|adb):.* .*: set runner-tools/);
  });

  test('a session removes the folder that a loss of power has left', async () => {
    mkdirSync(join(there, 'iree-tuned.abcdef'));
    const session = await openSession(runner, 5);
    expect(foldersThere()).toHaveLength(1);
    session!.release();
    await expect.poll(foldersThere, { timeout: 4000 }).toEqual([]);
  });
});
