// The command line of `bench:zoo`, and the results of an interrupted run.
import { existsSync, readFileSync } from 'node:fs';
import { jsonFile, readArguments, secondsOption, UsageError, wholeNumber } from '../shared/arguments.ts';
import { threadsOption } from '../shared/threads.ts';
import type { Result } from './measure.ts';

const USAGE = `usage: npm run bench:zoo -- [MODEL...] [--budget SECONDS] [--rounds N] [--threads 1|all] [--seed N]
                         [--dim NAME=SIZE] [--json FILE] [--resume]

  MODEL      a model, such as resnet18 or light:squeezenet, a group (core (default), rest, light, int8, halves), or an .onnx
             file
  --budget   seconds of tuning per model (default 60)
  --rounds   most rounds of timing; slow models get fewer (default 15)
  --threads  1, or all threads of this machine (default 1), also for the peers
  --seed     of the draw of models from packages (default 2)
  --dim      size of a named dimension of the .onnx files, such as batch=1; repeatable
  --json     also write all values to FILE, after each model
  --resume   keep the results that FILE has, and measure the other models`;

export interface Options {
  /** Names of models and groups, and paths of files; empty for the core. */
  readonly models: readonly string[];
  /** Options that change the results. */
  readonly measured: {
    readonly budgetSeconds: number;
    readonly rounds: number;
    readonly threads: number;
    /** Sizes of named dimensions, in elements. */
    readonly sizes: Readonly<Record<string, number>>;
  };
  readonly seed: number;
  readonly json: string | undefined;
  readonly resume: boolean;
}

/** @throws UsageError for an invalid command line */
export function readOptions(argv?: readonly string[]): Options {
  const names = ['budget', 'rounds', 'threads', 'seed', 'json'];
  const args = readArguments(names, USAGE, argv && [...argv], {
    lists: ['dim'],
    switches: ['resume'],
  });
  const json = jsonFile(args);
  const resume = args.switches.has('resume');
  if (resume && json === undefined) throw new UsageError('--resume: it needs --json FILE of the earlier run');
  return {
    models: args.positionals,
    measured: {
      budgetSeconds: secondsOption(args, 'budget', 60),
      rounds: wholeNumber(args, 'rounds', 15),
      threads: threadsOption(args),
      sizes: sizesOf(args.lists['dim'] ?? []),
    },
    seed: wholeNumber(args, 'seed', 2),
    ...{ json, resume },
  };
}

function sizesOf(texts: readonly string[]): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const text of texts) {
    const [, name, size] = /^(.+)=([1-9]\d*)$/.exec(text) ?? [];
    if (name === undefined || !Number.isSafeInteger(Number(size)))
      throw new UsageError(`--dim ${text}: it takes a name and a size from 1 up, such as --dim batch=1`);
    if (sizes[name] !== undefined && sizes[name] !== Number(size))
      throw new UsageError(`--dim ${text}: ${name} is ${sizes[name]} already; give each name once`);
    sizes[name] = Number(size);
  }
  return sizes;
}

/**
 * The results of the earlier run; none if there is no file. Models that could not be prepared then are tried again.
 * @throws UsageError when the file has other options
 */
export function earlierResults({ json, resume, measured }: Options): Result[] {
  if (!resume || json === undefined || !existsSync(json)) return [];
  const { options, results } = JSON.parse(readFileSync(json, 'utf8')) as {
    readonly options: unknown;
    readonly results: readonly Result[];
  };
  const [now, then] = [measured, options].map((one) => JSON.stringify(one));
  if (now !== then) throw new UsageError(`--resume: ${json} was measured with ${then}; now it is ${now}`);
  return results.filter(({ state }) => state !== 'not prepared');
}
