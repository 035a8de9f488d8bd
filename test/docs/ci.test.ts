// Runs the workflow docs/ci/tuned.yaml for a night with two shards. Each job has a machine and a checkout of its own.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { HOST, matmulModule, Workplace } from '../scenarios/support.ts';
import { stepsOf } from '../support/page.ts';
import { root } from '../support/real-tools.ts';
import { testPage, Typist } from './support.ts';

const workflow = readFileSync(join(root, 'docs', 'ci', 'tuned.yaml'), 'utf8');
const jobs = new Map(
  workflow.split(/^(?= {2}\w+:$)/m).map((text) => [text.slice(2, text.indexOf(':')), text]),
);
const common = workflow.slice(0, workflow.indexOf('\njobs:'));

const variablesOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^ {2,6}(IREE_TUNED_\w+): '?(.*?)'?$/gm)].map(([, name, value]) => [name!, value!]),
  );

const blocks = ['tune', 'lock', 'build'].flatMap((job) =>
  stepsOf(jobs.get(job)!).map((text) => ({
    user: job,
    path: null,
    language: 'sh',
    text,
    at: `tuned.yaml: ${job}: ${text}`,
  })),
);

/** A machine with a checkout. */
async function machine(origin: string): Promise<Typist> {
  const runner = new Typist(Workplace.simulated({ FLAGS: HOST.join(' ') }, { isShort: true }));
  await runner.type(`git clone --quiet '${origin}' work`, 'checkout');
  return runner;
}

/** Runs a job's steps on a machine. */
async function run(job: string, runner: Typist, expressions: Readonly<Record<string, string>> = {}) {
  const variables = { IREE_TUNED_BUDGET: undefined, ...variablesOf(common), ...variablesOf(jobs.get(job)!) };
  for (const { user, text, at } of blocks)
    if (user === job)
      await runner.type(
        `cd work\n${text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, name: string) => expressions[name]!)}`,
        at,
        variables,
      );
}

async function night() {
  const first = new Typist(Workplace.simulated());
  const { place } = first;
  mkdirSync(place.path('start/models'), { recursive: true });
  const models = ['a', 'b', 'c'];
  for (const [i, name] of models.entries())
    place.write(`start/models/${name}.mlir`, matmulModule(24, 24, 16 + 8 * i));
  const commit = 'git add . && git -c user.name=me -c user.email=me@example.com commit --quiet -m models';
  await first.type(
    `cd start && git init --quiet -b main && ${commit} && cd .. && git clone --quiet --bare start origin`,
    'origin',
  );
  const origin = place.path('origin');

  const lock = await machine(origin);
  mkdirSync(lock.place.path('work/shards'));
  for (const shard of ['1', '2']) {
    const tune = await machine(origin);
    await run('tune', tune, { 'matrix.shard': shard, 'strategy.job-total': '2' });
    expect(tune.said).toContain(`shard ${shard}/2: ${shard === '1' ? 2 : 1} of 3 models and shapes`);
    const name = `shard-${shard}.jsonl`;
    copyFileSync(tune.place.path(`work/${name}`), lock.place.path(`work/shards/${name}`));
  }
  await run('lock', lock);
  expect(lock.said).toContain('3 programs with 3 workloads: 3 tuned');

  const build = await machine(origin);
  await run('build', build);
  for (const name of models) {
    const model = `work/models/${name}`;
    await build.place.stock([...HOST, `${model}.mlir`, '-o', 'stock.vmfb']);
    expect(build.place.read(`${model}.vmfb`).equals(build.place.read('stock.vmfb'))).toBe(false);
  }
  expect(build.place.has('work/.tuned')).toBe(false);

  // The next night has nothing to commit.
  await run('lock', lock);
  const { stdout } = spawnSync('git', ['log', '--format=%s'], { cwd: origin, encoding: 'utf8' });
  expect(stdout).toBe('Tuned configurations\nmodels\n');
}

testPage('ci', blocks, night);
