// Jobs are data from others: a worker runs a program only as its own flags and its own folder allow.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readJob } from '../../src/fleet/job.ts';
import { tuneProgramFile } from '../../src/fleet/tune-job.ts';
import { sha256 } from '../../src/system/hash.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { jobOf, PLACE } from './support.ts';

const TEXT = 'module {}';
const SHA256 = sha256(TEXT);
const FLAGS = ['--iree-llvmcpu-target-cpu=host'];

/** A folder of models, and a command in the place of `iree-tuned` that writes down its words. */
function worker(script = '') {
  const folder = temporaryDirectory();
  const models = join(folder, 'models');
  mkdirSync(join(models, 'nets'), { recursive: true });
  writeFileSync(join(models, 'nets', 'one.mlir'), TEXT);
  writeFileSync(join(folder, 'secret.mlir'), TEXT);
  const [executable, words] = [join(folder, 'iree-tuned'), join(folder, 'words')];
  writeFileSync(executable, `#!/bin/sh\nprintf '%s\\n' "$BUDGET" "$@" >${words}\n${script}\n`, {
    mode: 0o755,
  });
  const envFor = (seconds: number) => ({ ...process.env, BUDGET: String(seconds) });
  const means = { models, executable, flags: FLAGS, envFor };
  const run = (path: string, digest = SHA256, signal = new AbortController().signal) =>
    tuneProgramFile({ path, sha256: digest }, 30, means, signal);
  return {
    folder,
    models,
    means,
    run,
    wordsOf: () => (existsSync(words) ? readFileSync(words, 'utf8') : null),
  };
}

test("a program is tuned with the worker's flags and the job's budget", async () => {
  const { models, run, wordsOf } = worker('echo notes >&2; echo table');
  expect(await run('nets/one.mlir')).toEqual({ outcome: 'done', summary: 'tuned', log: ['notes', 'table'] });
  expect(wordsOf()).toBe(`30\ntune\n${join(models, 'nets', 'one.mlir')}\n--\n${FLAGS.join('\n')}\n`);
});

test('a failed program gives the last line of its errors as the reason', async () => {
  const { run } = worker('echo first >&2; echo second >&2; exit 1');
  expect(await run('nets/one.mlir')).toMatchObject({ outcome: 'undecided', reason: 'second' });
  expect(await worker('exit 3').run('nets/one.mlir')).toMatchObject({
    reason: 'iree-tuned tune ended with 3',
  });
});

test('an abort ends the process', async () => {
  const { run } = worker('sleep 600');
  expect(await run('nets/one.mlir', SHA256, AbortSignal.timeout(300))).toEqual({ outcome: 'stopped' });
});

test('a path out of the folder, or another content, runs nothing', async () => {
  const { folder, models, means, run, wordsOf } = worker();
  symlinkSync(join(folder, 'secret.mlir'), join(models, 'link.mlir'));
  symlinkSync(folder, join(models, 'out'));
  execFileSync('mkfifo', [join(models, 'pipe.mlir')]);
  const reasons = {
    '../secret.mlir': 'is not a path below the folder of models',
    'nets/../../secret.mlir': 'is not a path below the folder of models',
    [join(models, 'nets/one.mlir')]: 'is not a path below the folder of models',
    'link.mlir': 'is a link out of the folder of models',
    'out/secret.mlir': 'is a link out of the folder of models',
    'pipe.mlir': 'is no file',
    nets: 'is no file',
    'none.mlir': 'no such file',
  };
  for (const [path, reason] of Object.entries(reasons))
    expect(await run(path)).toEqual({
      outcome: 'undecided',
      reason: expect.stringContaining(reason) as string,
    });
  expect(await run('nets/one.mlir', sha256('another'))).toMatchObject({
    reason: 'nets/one.mlir has changed: its digest is another one',
  });
  const without = { ...means, models: null };
  expect(
    await tuneProgramFile({ path: 'a', sha256: SHA256 }, 1, without, new AbortController().signal),
  ).toEqual({
    outcome: 'undecided',
    reason: 'this worker has no folder of models: start the worker with --models DIR',
  });
  expect(wordsOf()).toBeNull();
});

test('a job has no flags, and no path with control characters', () => {
  const program = { path: '-o/one.mlir', sha256: SHA256 };
  const job = { version: 1, ...PLACE, program };
  expect(readJob(job, PLACE)).toEqual(job);
  expect(readJob(jobOf(1).job, PLACE)).toEqual(jobOf(1).job);
  const flags = ['--iree-hal-preprocess-executables-with=/tmp/x'];
  const refused: [unknown, string][] = [
    [{ ...job, flags }, 'flags'],
    [{ ...job, program: { ...program, flags } }, 'flags'],
    [{ ...jobOf(1).job, flags }, 'flags'],
    [{ ...job, ...jobOf(1).job }, 'workload'],
    [{ ...job, program: { ...program, path: 'a\n--flag' } }, 'has a path with control characters'],
    [{ ...job, program: { ...program, path: '' } }, 'has a path with control characters'],
    [{ ...job, program: { ...program, sha256: 'x' } }, 'has an invalid digest'],
    [{ ...job, budgetSeconds: 1e9 }, '21600'],
    [{ ...job, target: `${PLACE.target} ${flags[0]!}` }, 'this job is for another target'],
  ];
  for (const [data, reason] of refused) expect(readJob(data, PLACE)).toContain(reason);
});
