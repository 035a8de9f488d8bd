// Shapes as programs, checked with the real compiler.
// In full after a change of src/populate.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { test, expect } from 'vitest';
import { tunables } from '../../src/input/input.ts';
import { executorHere } from '../../src/populate/executor.ts';
import { isAsked, planPopulation } from '../../src/populate/plan.ts';
import { askedOfInput, askedOfShapes, type Knowledge } from '../../src/populate/request.ts';
import { programText } from '../../src/populate/shape.ts';
import { programAt, populationSite } from '../../src/populate/site.ts';
import { shapesOf } from '../../src/populate/sweep.ts';
import { readSettings } from '../../src/settings/index.ts';
import type { Surroundings } from '../../src/settings/surroundings.ts';
import { packageRoot } from '../../src/system/package-root.ts';
import { HOST } from '../scenarios/support.ts';
import { open } from '../store/support.ts';
import { giveAnswers } from '../support/answers.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler } from '../support/real-tools.ts';
import { isFull } from '../support/needs.ts';

/** A layer of a model, with its weights in the text. */
function layer(
  name: string,
  [m, n, k]: readonly [number, number, number],
  type: string,
  isConstant: boolean,
) {
  const bytes = Array.from({ length: n * k * (type === 'f32' ? 4 : 2) }, (_, i) => (i * 37) % 59);
  const [lhs, rhs, result] = [
    `tensor<${m}x${k}x${type}>`,
    `tensor<${k}x${n}x${type}>`,
    `tensor<${m}x${n}xf32>`,
  ];
  const weight = `  %w = arith.constant dense<"0x${Buffer.from(bytes).toString('hex')}"> : ${rhs}\n`;
  return `func.func @${name}(%x: ${lhs}${isConstant ? '' : `, %w: ${rhs}`}) -> ${result} {
${isConstant ? weight : ''}  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : ${result}
  %z = linalg.fill ins(%c : f32) outs(%e : ${result}) -> ${result}
  %y = linalg.matmul ins(%x, %w : ${lhs}, ${rhs}) outs(%z : ${result}) -> ${result}
  return %y : ${result}
}\n`;
}

test('shapes have the keys of equal layers of a model', { tags: ['compiler'] }, async () => {
  const folder = temporaryDirectory();
  const env = { IREE_TUNED_COMPILER: compiler.executable, IREE_TUNED_CACHE: join(folder, 'cache') };
  giveAnswers(env.IREE_TUNED_CACHE, compiler.executable);
  const { settings } = readSettings(env, new Map([['device', 'local-sync']]), '--');
  const surroundings: Surroundings = {
    env,
    settings,
    root: packageRoot,
    cacheDirectory: env.IREE_TUNED_CACHE,
  };
  const store = open(join(folder, 'tuning.db'));
  const at = await populationSite(HOST, 'here', surroundings);
  const knowledge: Knowledge = { store, surroundings, secondsEach: 60, tools: [] };

  const sizes = { m: '1,48', n: isFull ? '1,80' : '80', k: '96', dtype: isFull ? 'f32,f16' : 'f32' };
  const shapes = shapesOf(sizes);
  const model = shapes.map(({ m, n, k, lhs, rhsConstant }, i) =>
    layer(`layer${i}`, [m, n, k], lhs, rhsConstant),
  );
  const path = join(folder, 'model.mlir');
  writeFileSync(path, model.join(''));
  const program = await programAt(path, HOST, surroundings);
  if (typeof program === 'string') throw new Error(program);
  const { inspected } = program;
  expect(inspected.input.surveyed).toBe(true);
  const keys = new Set(tunables(inspected.input).map(({ key }) => key));

  const requests = askedOfShapes(shapes, 0, at, knowledge);
  const asked = requests.filter(isAsked);
  expect(asked).toEqual(requests);
  // Before the survey, and after it.
  expect(new Set(asked.map(({ work }) => work.key))).toEqual(keys);
  const plan = planPopulation(asked, () => []);
  const executor = executorHere([at], knowledge, { tools: null, folder, jobs: 1 });
  const prepared = await executor.prepare(plan.todo);
  expect(new Set(prepared.map(({ work }) => work.key))).toEqual(keys);

  // A plan of both has each workload once.
  const both = [...asked, ...askedOfInput(inspected.input, path, 0, at, knowledge)];
  expect(planPopulation(both, () => []).todo).toHaveLength(keys.size);
});

test('the compiler makes whole dispatches of attentions and softmaxes', { tags: ['compiler'] }, async () => {
  const sizes = { batch: '2,1x2', m: '16', n: '48' };
  const attentions = shapesOf({ ...sizes, op: 'attention', k: '32', dtype: 'f32,f16' });
  const rows = shapesOf({ ...sizes, op: 'softmax' });
  const texts = [...attentions, ...rows].map((shape, i) =>
    programText(shape).replace(`@${shape.op}`, `@${shape.op}_${i}`),
  );
  const path = join(temporaryDirectory(), 'programs.mlir');
  writeFileSync(path, texts.join(''));
  const { stdout } = await execa(compiler.executable, [
    ...['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'],
    ...['--compile-to=preprocessing', path],
  ]);
  expect(stdout.match(/iree_linalg_ext\.attention/g)).toHaveLength(attentions.length);
  expect(stdout.match(/linalg\.softmax/g)).toHaveLength(rows.length);
});
