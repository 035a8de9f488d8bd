// The command line of `bench:zoo`.
import { readArguments, UsageError, wholeNumber } from '../shared/arguments.ts';
import { keptOption, type Kept } from '../shared/peers/earlier.ts';
import { measuredOptions, type Measured } from '../shared/peers/options.ts';

const USAGE = `usage: npm run bench:zoo -- [MODEL...] [--budget SECONDS] [--rounds N] [--threads 1|all] [--seed N]
                         [--dim NAME=SIZE] [--json FILE] [--resume]

  MODEL      a model, such as resnet18 or light:squeezenet; a network in another type, such as int8:resnet50; a group
             (core (default), rest, light, int8, halves); or an .onnx file
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
  readonly measured: Measured & {
    /** Sizes of named dimensions, in elements. */
    readonly sizes: Readonly<Record<string, number>>;
  };
  readonly seed: number;
  readonly kept: Kept;
}

/** @throws UsageError for an invalid command line */
export function readOptions(argv?: readonly string[]): Options {
  const names = ['budget', 'rounds', 'threads', 'seed', 'json'];
  const args = readArguments(names, USAGE, argv && [...argv], {
    lists: ['dim'],
    switches: ['resume'],
  });
  return {
    models: args.positionals,
    measured: {
      ...measuredOptions(args),
      sizes: sizesOf(args.lists['dim'] ?? []),
    },
    seed: wholeNumber(args, 'seed', 2),
    kept: keptOption(args),
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
