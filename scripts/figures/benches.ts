// Rows of results from the JSON of each bench.
import type { Cloned, Repeated } from '../../bench/decisions.ts';
import type { Case } from '../../bench/gpu.ts';
import type { Measured as Kernel } from '../../bench/kernels.ts';
import type { Miss } from '../../bench/misses.ts';
import type { Summary as Command } from '../../bench/overhead.ts';
import type { Result as Searches } from '../../bench/search.ts';
import type { Result as Program } from '../../bench/shared/programs.ts';
import type { Result as Model } from '../../bench/shared/peers/measure.ts';
import type { Row } from './results.ts';

interface Of<Bench extends string, Result> {
  readonly bench: Bench;
  readonly results: readonly Result[];
}

interface Gpu extends Of<'gpu', Case> {
  readonly target: string;
  readonly device: { readonly model: string; readonly gpu?: { readonly isSoftware: boolean } };
}

interface Decisions {
  readonly bench: 'decisions';
  readonly cloned: readonly Cloned[];
  readonly repeated: readonly Repeated[];
}

type Bench =
  | Of<'models' | 'programs', Program>
  | Of<'zoo', Model>
  | Of<'misses', Miss>
  | Of<'overhead', Command>
  | Of<'kernels', Kernel>
  | Of<'search', Searches>
  | Gpu
  | Decisions;

/** The head of each bench's JSON: see `aboutRun`. */
interface Head {
  /** ISO 8601. */
  readonly date: string;
  readonly machine: {
    readonly model: string;
    readonly driver: string;
    readonly threads: number;
    readonly cores: number;
  };
}

export type Measured = Head & Bench;

/** Rows of one bench. */
export interface Taken {
  /** Of the run in `bench/results.json`. */
  readonly id: string;
  readonly rows: readonly Row[];
  /** Machine and threads. Null if rows of other models stay, which were measured on the run's own machine. */
  readonly origin: { readonly machine: string; readonly threads: string } | null;
}

const digits = (value: number) => Number(value.toPrecision(3));
const ms = (seconds: number) => digits(1000 * seconds);
const orDash = (value: number | null | undefined) =>
  value === null || value === undefined ? '-' : digits(value);
const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

/** The measured runs: one, but for the zoo, whose light models have a run of their own. @throws Error for JSON of another bench */
export function taken(json: Measured): Taken[] {
  const { model, cores, threads, driver } = json.machine;
  const origin = { machine: `${model}, ${cores} cores`, threads: `${threads} (\`${driver}\`)` };
  const ofThreads = (id: string) => (threads === 1 ? id : `${id}-all-threads`);
  switch (json.bench) {
    case 'overhead':
      return [{ id: 'overhead', rows: json.results.map(rowOfCommand), origin }];
    case 'kernels':
      return [{ id: 'kernels', rows: json.results.map(rowOfKernel), origin }];
    case 'decisions':
      return [{ id: 'decisions', rows: rowsOfDecisions(json), origin }];
    case 'search':
      return [{ id: 'search', rows: json.results.flatMap(rowsOfStrategies), origin }];
    case 'misses':
      return [{ id: 'misses', rows: json.results.map(rowOfMiss), origin }];
    case 'gpu': {
      const id = json.device.gpu?.isSoftware === true ? 'vulkan' : `gpu-${json.target}`;
      const ofDevice = { machine: json.device.model, threads: '-' };
      return [{ id, rows: json.results.map(rowOfCase), origin: ofDevice }];
    }
    case 'zoo': {
      const timed = json.results.filter(({ gains }) => gains['tuned'] !== undefined);
      const [light, others] = [timed.filter(isLight), timed.filter((one) => !isLight(one))];
      const runs = [
        { id: ofThreads('zoo'), rows: others.map(rowOfZoo), origin: null },
        { id: ofThreads('light'), rows: light.map(rowOfLight), origin: null },
      ];
      return runs.filter(({ rows }) => rows.length > 0);
    }
    case 'models':
    case 'programs':
      return [{ id: ofThreads(json.bench), rows: json.results.flatMap(rowsOfProgram), origin: null }];
    default:
      throw new Error('the JSON is of no bench with results');
  }
}

/** No row for a program without times. */
function rowsOfProgram({ model, verdict, sameCode }: Program): Row[] {
  const timing = verdict?.timing ?? null;
  if (timing === null) return [];
  const [stock, tuned] = timing.seconds;
  return [
    {
      ...{ model: model.replace('.mlir', ''), 'stock ms': ms(stock), 'tuned ms': ms(tuned) },
      gain: sameCode ? 1 : digits(timing.ratio),
    },
  ];
}

const rowOfMiss = ({ shape, seconds, gain }: Miss): Row => ({
  ...{ shape, seconds: digits(seconds), gain: digits(gain) },
});

const LIGHT = 'light:';
const isLight = ({ model }: Model): boolean => model.startsWith(LIGHT);

/** Those of the picture and of the README's table. */
const LIGHT_COLUMNS = ['ONNX Runtime ms', 'stock ms', 'tuned ms', 'gain', 'against ONNX Runtime'];

function rowOfLight(result: Model): Row {
  const row = rowOfZoo(result);
  return {
    model: result.model.slice(LIGHT.length),
    ...Object.fromEntries(LIGHT_COLUMNS.map((column) => [column, row[column]!])),
  };
}

function rowOfZoo({ model, seconds, gains }: Model): Row {
  const shown = (name: keyof typeof seconds) => (seconds[name] === undefined ? '-' : ms(seconds[name]));
  return {
    ...{ model, 'ONNX Runtime ms': shown('onnxRuntime'), 'OpenVINO ms': shown('openVino') },
    ...{ 'stock ms': shown('stock'), 'best of stock ms': shown('best'), 'tuned ms': shown('tuned') },
    gain: orDash(gains['stock']?.ratio),
    'against the best of stock': orDash(gains['best']?.ratio),
    'against ONNX Runtime': orDash(gains['onnxRuntime']?.ratio),
    'against OpenVINO': orDash(gains['openVino']?.ratio),
  };
}

const rowOfCommand = ({ input, what, medianMs, overElfMs, ofPip }: Command): Row => ({
  ...{ input, run: what, ms: digits(medianMs) },
  ...{ 'ms over ELF': orDash(overElfMs), "of pip's script": orDash(ofPip) },
});

const rowOfKernel = ({ shape, gflops, gains }: Kernel): Row => ({
  ...{ shape: shape.name, 'tuned GFLOP/s': orDash(gflops['tuned']) },
  gain: orDash(gains['stock']?.ratio),
  'against data tiling': orDash(gains['dataTiling']?.ratio),
  'against OpenBLAS': orDash(gains['openblas']?.ratio),
  'against MKL': orDash(gains['mkl']?.ratio),
});

const rowOfCase = ({ name, seconds, ratio, cublasSeconds }: Case): Row => ({
  ...{ case: name, 'stock ms': ms(seconds[0]), 'tuned ms': ms(seconds[1]), gain: digits(ratio) },
  ...(cublasSeconds === null ? {} : { 'cuBLAS ms': ms(cublasSeconds) }),
});

const rowsOfDecisions = ({ cloned, repeated }: Decisions): Row[] =>
  [...new Set([...cloned, ...repeated].map(({ shape }) => shape))].map((shape) => {
    const clones = cloned.find((one) => one.shape === shape);
    const tunings = repeated.find((one) => one.shape === shape);
    return {
      shape,
      'false gains among clones': clones === undefined ? '-' : `${clones.claims} of ${clones.finals}`,
      'tunings within 3% of the best':
        tunings === undefined ? '-' : `${tunings.asGood} of ${tunings.speeds.length}`,
      'best gain': tunings === undefined ? '-' : digits(Math.max(...tunings.speeds)),
    };
  });

/** Trials of a batch in `bench:search`. */
const BATCH = 12;

const meanOf = (shares: readonly number[]): string =>
  percent(shares.reduce((sum, share) => sum + share, 0) / shares.length);

/** Of all strategies only the guided one has a prior, which chooses without a trial. */
const rowsOfStrategies = ({ name, untimed, searched }: Searches): Row[] =>
  searched.map(([strategy, own]) => ({
    ...{ matmuls: name, strategy, 'no trial': strategy === 'guided' ? meanOf(untimed) : '-' },
    ...Object.fromEntries(
      [12, 24, 48].flatMap((trials) => {
        const shares = own
          .map(({ shares: all }) => all[Math.min(trials / BATCH, all.length) - 1]!)
          .sort((a, b) => a - b);
        return [
          [`after ${trials} trials`, meanOf(shares)],
          [`worst tenth after ${trials}`, percent(shares[Math.floor(shares.length / 10)]!)],
        ];
      }),
    ),
  }));
