// The wrapper's overhead: the same compiles with and without the wrapper.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../src/measure/statistics.ts';
import type { Explanation } from '../src/report/explain.ts';
import { table } from '../src/report/table.ts';
import { rotate } from '../src/running/comparison/rounds.ts';
import {
  BenchError,
  counted,
  jsonFile,
  readArguments,
  refusePositionals,
  run,
  say,
  secondsOption,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import {
  aboutRun,
  HOST_FLAGS,
  openWorkplace,
  root,
  wrapperEnvironment,
  type Workplace,
} from './shared/workplace.ts';

const USAGE = `usage: npm run bench:overhead -- [--rounds N] [--budget SECONDS] [--json FILE]

  --rounds  runs of every command (default 15)
  --budget  seconds of tuning for each hit (default 15)
  --json    also write all values to FILE`;

/** Settings of the wrapper in timed runs. */
const NO_TUNING = { BUDGET: '0', DEVICE: 'local-sync' };

/** Matmuls with a hit. Several, because a configuration changes the compiler's own time: peeled loops are more code. */
const MATMULS = ['512x512x512', '1x4096x4096', '997x997x997'];

interface Command {
  readonly input: string;
  readonly what: string;
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The compiler's executable, run directly with the arguments that the wrapper gives it. */
  readonly baseline: Command | null;
  /** pip's script on the same input, for a compiler from pip. */
  readonly pip: Command | null;
  /** Whether each run has a new output file, so that no run repeats an earlier one. */
  readonly isNew?: boolean;
}

async function main(): Promise<void> {
  const args = readArguments(['rounds', 'budget', 'json'], USAGE);
  refusePositionals(args);
  const rounds = wholeNumber(args, 'rounds', 15);
  const budgetSeconds = secondsOption(args, 'budget', 15);
  const json = jsonFile(args);

  const place = await openWorkplace();
  const about = aboutRun('overhead', NO_TUNING.DEVICE, { iree: place.description });
  const { commands, hits } = listCommands(place, budgetSeconds);
  // Warm-up: the first run of each command fills caches.
  for (const command of commands) milliseconds(command);
  const times = new Map<Command, number[]>(commands.map((command) => [command, []]));
  for (let round = 0; round < rounds; round++) {
    say(`Round ${round + 1} of ${rounds} ...`);
    for (const command of rotate(commands, round)) times.get(command)!.push(milliseconds(command));
  }

  const results = commands.map((command) => summarize(command, times));
  console.log(
    `IREE ${place.description.version}, medians of ${counted(rounds, 'round')}. ` +
      '"ELF" is the compiler\'s executable, run directly with the same arguments.\n',
  );
  console.log(report(results));
  writeJson(json, {
    ...about,
    options: { rounds, budgetSeconds, flags: HOST_FLAGS },
    hits,
    results,
  });
}

/** Makes the hits, and lists all commands to time. */
function listCommands(place: Workplace, budgetSeconds: number): { commands: Command[]; hits: Explanation[] } {
  const { compiler, wrapper, folder } = place;
  const elementwise = join(folder, 'elementwise.mlir');
  writeFileSync(elementwise, ELEMENTWISE);
  const compile = (source: string) => [...HOST_FLAGS, source, '-o', join(folder, 'module.vmfb')];
  const withDatabase = (name: string) => wrapperEnvironment(place, { ...NO_TUNING, DB: join(folder, name) });
  const hitEnvironment = withDatabase('tuning.sqlite');

  const commands: Command[] = [];
  const add = (command: Command): Command => {
    commands.push(command);
    return command;
  };
  const hasPip = compiler.invokedAs !== compiler.executable;
  const direct = (input: string, argv: readonly string[], arguments_ = '') => {
    const own = { input, argv, env: process.env };
    const what = (name: string) => `${name}${arguments_}`;
    const elf = add({ ...own, what: what('ELF'), file: compiler.executable, baseline: null, pip: null });
    const script = { ...own, what: what("pip's script"), file: compiler.invokedAs, baseline: elf, pip: null };
    return { baseline: elf, pip: hasPip ? add(script) : null };
  };

  const hits = MATMULS.map((matmul) => {
    const source = join(root, 'examples', `matmul_${matmul}.mlir`);
    const hit = makeHit(place, matmul, compile(source), hitEnvironment, budgetSeconds);
    const input = hit.route === 'none' ? `${matmul} (default)` : matmul;
    const plain = { input, file: wrapper, argv: compile(source) };
    const stock = direct(input, plain.argv);
    if (matmul === MATMULS[0]) {
      const disabled = { ...hitEnvironment, IREE_TUNED_DISABLE: '1' };
      add({ ...plain, ...stock, what: 'wrapper, disabled', env: disabled });
      const miss = { ...plain, ...stock, env: withDatabase('empty.sqlite') };
      add({ ...miss, what: 'wrapper, miss, budget 0', isNew: true });
      add({ ...miss, what: 'wrapper, miss again' });
    }
    // If the default is best, nothing is injected, and the arguments of the hit are the user's own.
    const same = hit.route === 'none' ? stock : direct(input, hit.command.slice(1), ', arguments of the hit');
    add({ ...plain, ...same, what: 'wrapper, hit', env: hitEnvironment, isNew: true });
    add({ ...plain, ...same, what: 'wrapper, hit again', env: hitEnvironment });
    return hit;
  });

  const other = { input: 'no matmul', file: wrapper, argv: compile(elementwise) };
  const alike = direct(other.input, other.argv);
  add({ ...other, ...alike, what: 'wrapper', env: hitEnvironment, isNew: true });
  add({ ...other, ...alike, what: 'wrapper again', env: hitEnvironment });
  const version = { input: '--version', file: wrapper, argv: ['--version'] };
  add({ ...version, ...direct(version.input, version.argv), what: 'wrapper', env: hitEnvironment });
  return { commands, hits };
}

const ELEMENTWISE = `func.func @main(%lhs: tensor<512x512xf32>, %rhs: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %sum = arith.addf %lhs, %rhs : tensor<512x512xf32>
  return %sum : tensor<512x512xf32>
}
`;

/**
 * Tunes, then compiles again like a timed run.
 * @throws BenchError when the second compile is not a hit
 */
function makeHit(
  { wrapper, folder }: Workplace,
  matmul: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  budgetSeconds: number,
): Explanation {
  const explain = (budget: number): Explanation => {
    const file = join(folder, 'explain.json');
    rmSync(file, { force: true });
    runOnce(wrapper, argv, { ...env, IREE_TUNED_BUDGET: String(budget), IREE_TUNED_EXPLAIN: file });
    if (!existsSync(file))
      throw new BenchError('the wrapper wrote no explain JSON: run `node scripts/build.mjs` first');
    return JSON.parse(readFileSync(file, 'utf8')) as Explanation;
  };
  say(`Tuning ${matmul} for up to ${budgetSeconds} s ...`);
  // The first compile tunes and proves the plan. The second is a later build.
  explain(budgetSeconds);
  const hit = explain(0);
  const operation = hit.operations[0];
  if (operation?.outcome === 'hit' && hit.applied !== false) return hit;
  throw new BenchError(
    `${matmul} is not a hit (${hit.reason ?? operation?.reason ?? 'no reason is given'}): try a larger --budget`,
  );
}

/** @throws BenchError when the command fails */
function runOnce(file: string, argv: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, signal, error } = spawnSync(file, argv, { env, stdio: 'ignore' });
  if (status !== 0)
    throw new BenchError(
      `${[file, ...argv].join(' ')} failed: ${error?.message ?? signal ?? `exit code ${status ?? ''}`}`,
    );
}

let outputs = 0;

function milliseconds({ file, argv, env, isNew = false }: Command): number {
  const output = argv.indexOf('-o') + 1;
  const own = isNew ? argv.with(output, `${argv[output]!}${outputs++}`) : argv;
  const begin = performance.now();
  runOnce(file, own, env);
  const elapsed = performance.now() - begin;
  if (isNew) rmSync(own[output]!);
  return elapsed;
}

export interface Summary {
  readonly input: string;
  readonly what: string;
  readonly baseline: string | null;
  readonly milliseconds: readonly number[];
  readonly medianMs: number;
  /** Medians over the rounds: difference and ratios to the other command in the same round. */
  readonly overElfMs: number | null;
  readonly ofElf: number | null;
  readonly ofPip: number | null;
}

function summarize(command: Command, times: ReadonlyMap<Command, readonly number[]>): Summary {
  const own = times.get(command)!;
  const against = (other: Command | null, compare: (a: number, b: number) => number) => {
    const values = other && times.get(other)!;
    return values && median(own.map((time, round) => compare(time, values[round]!)));
  };
  const ratio = (a: number, b: number) => a / b;
  return {
    ...{ input: command.input, what: command.what, baseline: command.baseline?.what ?? null },
    ...{ milliseconds: own, medianMs: median(own) },
    overElfMs: against(command.baseline, (a, b) => a - b),
    ofElf: against(command.baseline, ratio),
    ofPip: against(command.pip, ratio),
  };
}

function report(results: readonly Summary[]): string {
  const ms = (value: number | null) => (value === null ? '-' : value.toFixed(1));
  const ratio = (value: number | null) => (value === null ? '-' : `${value.toFixed(2)}x`);
  return table(
    ['input', 'run', 'ms', 'ms over ELF', 'of ELF', "of pip's script"],
    results.map(({ input, what, medianMs, overElfMs, ofElf, ofPip }) => [
      input,
      what,
      ms(medianMs),
      ms(overElfMs),
      ratio(ofElf),
      ratio(ofPip),
    ]),
  );
}

await run('bench:overhead', main);
