// The command line of `bench:decoder`.
import { readArguments, UsageError, wholeNumber } from '../shared/arguments.ts';
import { keptOption, type Kept } from '../shared/peers/earlier.ts';
import { measuredOptions, type Measured } from '../shared/peers/options.ts';
import { DEFAULT_SIZES, TINY_SIZES, type Sizes } from './models.ts';

const USAGE = `usage: npm run bench:decoder -- [MODEL...] [--budget SECONDS] [--rounds N] [--threads 1|all]
                             [--layers N] [--width N] [--heads N] [--vocabulary N] [--tiny] [--json FILE] [--resume]

  MODEL      a call, such as f32:prefill-128 or int8:decode-1, or all calls of a kind: f32 (default), f16, int8, int4, dynamic
  --budget   seconds of tuning per call (default 60)
  --rounds   most rounds of timing; slow calls get fewer (default 15)
  --threads  1, or all threads of this machine (default 1), also for the peers
  --layers, --width, --heads, --vocabulary
             sizes of the decoder (default ${DEFAULT_SIZES.layers}, ${DEFAULT_SIZES.width}, ${DEFAULT_SIZES.heads}, ${DEFAULT_SIZES.vocabulary}: 124 million weights)
  --tiny     other defaults of the sizes: ${TINY_SIZES.layers}, ${TINY_SIZES.width}, ${TINY_SIZES.heads}, ${TINY_SIZES.vocabulary}
  --json     also write all values to FILE, after each call
  --resume   keep the results that FILE has, and measure the other calls`;

export interface Options {
  /** Names of models and kinds; empty for the default. */
  readonly models: readonly string[];
  /** Options that change the results. */
  readonly measured: Measured & {
    readonly sizes: Sizes;
  };
  readonly kept: Kept;
}

/** @throws UsageError for an invalid command line */
export function readOptions(argv?: readonly string[]): Options {
  const names = ['budget', 'rounds', 'threads', 'layers', 'width', 'heads', 'vocabulary', 'json'];
  const args = readArguments(names, USAGE, argv && [...argv], { switches: ['tiny', 'resume'] });
  const defaults = args.switches.has('tiny') ? TINY_SIZES : DEFAULT_SIZES;
  const size = (name: keyof Sizes) => wholeNumber(args, name, defaults[name]);
  const sizes = {
    ...{ layers: size('layers'), width: size('width') },
    ...{ heads: size('heads'), vocabulary: size('vocabulary') },
  };
  checkSizes(sizes);
  return {
    models: args.positionals,
    measured: {
      ...measuredOptions(args),
      sizes,
    },
    kept: keptOption(args),
  };
}

/** Heads of queries that share one of keys: `GROUP` of `network.py`. */
const GROUP = 4;

function checkSizes({ width, heads }: Sizes): void {
  if (heads % GROUP !== 0)
    throw new UsageError(
      `--heads ${heads}: it takes a multiple of ${GROUP}, because ${GROUP} heads share their keys`,
    );
  // The halves of a head rotate.
  if (width % (2 * heads) !== 0)
    throw new UsageError(
      `--width ${width}: it takes a multiple of ${2 * heads}, an even size for each of ${heads} heads`,
    );
}
