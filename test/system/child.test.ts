// @module-tag slow
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startChild, type ChildOptions, type Limit } from '../../src/system/child.ts';
import { afterSeconds, onAbort, whenHung, withMemory } from '../../src/system/limits.ts';
import { isRunning } from '../compiler/support.ts';
import { temporaryDirectory } from '../support/folders.ts';

const directory = temporaryDirectory();
const groups = ['ours', 'own'] as const;

const usual: ChildOptions = { env: process.env, group: 'own', stdin: 'ignore', output: 'pipe' };
const start = (script: string, options: Partial<ChildOptions> = {}) =>
  startChild('/bin/sh', ['-c', script], { ...usual, ...options });
const run = (script: string, options?: Partial<ChildOptions>) => start(script, options).ended;

/** Ends a child after it wrote to a file. */
const whenWritten =
  (path: string): Limit =>
  (_, end) => {
    const timer = setInterval(() => {
      try {
        if (readFileSync(path, 'utf8').endsWith('\n')) end('stopped');
      } catch {
        // The file does not exist yet.
      }
    }, 10);
    return () => {
      clearInterval(timer);
    };
  };

test.each(groups)('a child in %s group has an exit code, a signal and outputs', async (group) => {
  expect(await run('cat; echo problem >&2; exit 3', { group, stdin: Buffer.from([0xff, 0, 0x78]) })).toEqual({
    code: 3,
    signal: null,
    cut: null,
    stdout: Buffer.from([0xff, 0, 0x78]),
    stderr: Buffer.from('problem\n'),
  });
  expect(await run('kill -9 $$', { group })).toMatchObject({ code: null, signal: 'SIGKILL', cut: null });
});

test('a child leads its own group only on request', async () => {
  const script = 'ps -o pgid= -p $$; echo $$';
  const numbers = async (group: 'ours' | 'own') =>
    (await run(script, { group })).stdout.toString().trim().split(/\s+/).map(Number);
  const [own, self] = await numbers('own');
  expect(own).toBe(self);
  const [ours, other] = await numbers('ours');
  expect(ours).not.toBe(other);
});

test('without input it reads nothing', async () => {
  expect((await run('cat; echo end')).stdout.toString()).toBe('end\n');
});

test('an argument with an invalid byte reaches the child as this byte', async () => {
  const { stdout } = await startChild('/usr/bin/printf', ['%s', 'a\udc80b'], usual).ended;
  expect([...stdout]).toEqual([0x61, 0x80, 0x62]);
});

test('a missing program ends with 127, as in a shell', async () => {
  expect(await startChild(join(directory, 'nowhere'), [], usual).ended).toMatchObject({
    code: 127,
    cut: null,
  });
});

describe('the end of a child', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  const daemons = [
    ['in its group', '', 'ours'],
    ['in its group', '', 'own'],
    ['outside of its group', 'setsid', 'own'],
  ] as const;
  test.runIf(process.platform === 'linux').each(daemons)(
    'does not wait for a daemon %s that holds its pipes (%s %s)',
    async (_, session, group) => {
      const note = join(directory, `daemon-${session}-${group}`);
      const daemon = `${session} sh -c 'trap "" HUP INT TERM; echo $$ >"$0"; exec sleep 600' '${note}'`;
      const script = `${daemon} & until [ -s '${note}' ]; do sleep 0.01; done; echo said; exit 3`;
      const ended = await run(script, { group });
      expect(ended).toMatchObject({ code: 3, cut: null, stdout: Buffer.from('said\n') });
      const pid = Number(readFileSync(note, 'utf8'));
      if (group === 'own' && session === '') await expect.poll(() => isRunning(pid)).toBe(false);
      else process.kill(pid, 'SIGKILL');
    },
  );

  test.each(groups)('in %s group is not awaited for ever if SIGKILL does not end it', async (group) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    const note = join(directory, `unkillable-${group}`);
    const child = start(`echo $$ >'${note}'; exec sleep 600`, { group, limits: [whenWritten(note)] });
    const settled = expect(child.ended).rejects.toThrow(
      /^process \d+ \(sleep\) does not end, even by SIGKILL: reset its device or network disk, or restart the machine$/,
    );
    await expect
      .poll(() => kill.mock.calls, { timeout: 20_000 })
      .toContainEqual([expect.any(Number), 'SIGKILL']);
    vi.advanceTimersByTime(10_000);
    await settled;
    vi.restoreAllMocks();
    // The watcher's pipe is closed, which kills the child here.
    await expect.poll(() => isRunning(Number(readFileSync(note, 'utf8'))), { timeout: 20_000 }).toBe(false);
  });
});

describe('a limit', () => {
  test.each(groups)('ends a child in %s group with its descendants', async (group) => {
    const note = join(directory, `tree-${group}`);
    const script = `sh -c 'sleep 600 & echo $! >"$0"; wait' '${note}'; :`;
    const ended = await run(script, { group, limits: [whenWritten(note)] });
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL', cut: 'stopped' });
    const pid = Number(readFileSync(note, 'utf8'));
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
  });

  test('ends the rest of its own group after the end of the program', async () => {
    const note = join(directory, 'left');
    const ended = await run(`sleep 600 & echo $! >'${note}'; echo said`, { limits: [afterSeconds(1)] });
    expect(ended).toMatchObject({ code: 0, cut: 'late', stdout: Buffer.from('said\n') });
    const pid = Number(readFileSync(note, 'utf8'));
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
  });

  test.each(groups)('of time ends a child in %s group', async (group) => {
    const ended = await run('exec sleep 600', { group, limits: [afterSeconds(0.2)] });
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL', cut: 'late' });
  });

  test('of time may exceed the longest timer', async () => {
    expect(await run('exit 4', { limits: [afterSeconds(1e9)] })).toMatchObject({ code: 4, cut: null });
  });

  test.runIf(process.platform === 'linux').each(groups)(
    'of idleness ends a child in %s group',
    async (group) => {
      const ended = await run('exec sleep 600', { group, limits: [whenHung({ stallSeconds: 0.5 })] });
      expect(ended).toMatchObject({ code: null, signal: 'SIGKILL', cut: 'hung' });
    },
  );

  test.each(groups)(
    'by an AbortSignal ends a child in %s group, even if it is aborted already',
    async (group) => {
      const limits = [onAbort(AbortSignal.abort())];
      expect(await run('exec sleep 600', { group, limits })).toMatchObject({ code: null, cut: 'stopped' });
    },
  );

  test('stops after the end of the child, and keeps the first reason', async () => {
    const stopped: string[] = [];
    const limit =
      (why: 'late' | 'hung'): Limit =>
      (_, end) => {
        end(why);
        return () => stopped.push(why);
      };
    const { cut } = await run('exec sleep 600', { limits: [limit('hung'), limit('late')] });
    expect({ cut, stopped }).toEqual({ cut: 'hung', stopped: ['hung', 'late'] });
  });

  test.runIf(process.platform === 'linux')('of memory applies to each process', async () => {
    const script = 'ulimit -d; sh -c "ulimit -d"; echo "$1"';
    const limited = withMemory(2 ** 20, '/bin/sh', ['-c', script, 'x', "it's"]);
    const { stdout } = await startChild('/bin/sh', limited, usual).ended;
    expect(stdout.toString()).toBe(`${2 ** 20}\n${2 ** 20}\nit's\n`);
  });
});
