// Rows of results from the JSON of each bench.
import type { Row } from './results.ts';

interface Timing {
  readonly ratio: number;
  /** Of stock (or ONNX Runtime) and tuned. */
  readonly seconds: readonly [number, number];
}

interface Model {
  readonly model?: string;
  readonly program?: string;
  readonly sameCode: boolean | null;
  readonly verdict: { readonly timing: Timing | null } | null;
  readonly onnxRuntime?: { readonly tuned: Timing | null } | null;
}

interface Head {
  /** ISO 8601. */
  readonly date: string;
}

interface OnCpu extends Head {
  readonly machine: {
    readonly model: string;
    readonly driver: string;
    readonly threads: number;
    readonly cores: number;
  };
}

export interface Models extends OnCpu {
  readonly results: readonly Model[];
}

interface Zoo extends OnCpu {
  readonly results: readonly {
    readonly model: string;
    /** By contestant: `stock`, `best` (the best flags of stock), `tuned`, `onnxRuntime` and `openVino`. */
    readonly seconds: Readonly<Record<string, number>>;
    readonly gains: Readonly<Record<string, { readonly ratio: number }>>;
    readonly peerErrors: unknown;
  }[];
}

interface Misses extends OnCpu {
  readonly results: readonly { readonly shape: string; readonly seconds: number; readonly gain: number }[];
}

interface Gpu extends Head {
  readonly target: string;
  readonly device: { readonly model: string; readonly gpu?: { readonly isSoftware: boolean } };
  readonly results: readonly (Timing & { readonly name: string; readonly cublasSeconds: number | null })[];
}

interface Overhead extends OnCpu {
  readonly hits: unknown;
  readonly results: readonly {
    readonly input: string;
    readonly what: string;
    readonly medianMs: number;
    readonly overElfMs: number | null;
    readonly ofPip: number | null;
  }[];
}

interface Kernels extends OnCpu {
  readonly shapes: readonly {
    readonly shape: { readonly name: string };
    readonly gflops: Readonly<Record<string, number | null>>;
    readonly tunedOver: Readonly<Record<string, { readonly median: number } | null>>;
  }[];
  readonly geometricMeans: unknown;
}

interface Decisions extends OnCpu {
  readonly cloned: readonly { readonly shape: string; readonly finals: number; readonly claims: number }[];
  readonly repeated: readonly {
    readonly shape: string;
    readonly speeds: readonly number[];
    readonly asGood: number;
  }[];
}

interface Search extends OnCpu {
  readonly results: readonly {
    /** The measured matmuls, such as `avx512-f32`. */
    readonly name: string;
    /** Of each matmul: the share of the best speed by the prior alone. */
    readonly untimed: readonly number[];
    readonly searched: readonly (readonly [string, readonly { readonly shares: readonly number[] }[]])[];
  }[];
}

export type Measured = Models | Zoo | Misses | Gpu | Overhead | Kernels | Decisions | Search;

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

const originOn = ({ machine: { model, cores, threads, driver } }: OnCpu) => ({
  machine: `${model}, ${cores} cores`,
  threads: `${threads} (\`${driver}\`)`,
});

/** @throws Error for JSON of no bench with results */
export function taken(json: Measured): Taken {
  if ('hits' in json) return { id: 'overhead', rows: json.results.map(rowOfCommand), origin: originOn(json) };
  if ('geometricMeans' in json)
    return { id: 'kernels', rows: json.shapes.map(rowOfKernel), origin: originOn(json) };
  if ('repeated' in json) return { id: 'decisions', rows: rowsOfDecisions(json), origin: originOn(json) };
  if ('target' in json) {
    const { target, device } = json;
    return {
      id: device.gpu?.isSoftware === true ? 'vulkan' : `gpu-${target}`,
      rows: json.results.map(rowOfCase),
      origin: { machine: device.model, threads: '-' },
    };
  }
  const [first] = json.results;
  if (first !== undefined && 'searched' in first)
    return { id: 'search', rows: (json as Search).results.flatMap(rowsOfStrategies), origin: originOn(json) };
  if (first !== undefined && 'shape' in first) {
    const rows = (json as Misses).results.map(({ shape, seconds, gain }) => ({
      ...{ shape, seconds: digits(seconds), gain: digits(gain) },
    }));
    return { id: 'misses', rows, origin: originOn(json) };
  }
  if (first !== undefined && 'peerErrors' in first) {
    const { results, machine } = json as Zoo;
    return {
      id: machine.threads === 1 ? 'zoo' : 'zoo-all-threads',
      rows: results.filter(({ gains }) => gains['tuned'] !== undefined).map(rowOfZoo),
      origin: null,
    };
  }
  if (first === undefined || !('verdict' in first)) throw new Error('the JSON is of no bench with results');
  const { results, machine } = json as Models;
  const kind = first.program !== undefined ? 'programs' : first.onnxRuntime === undefined ? 'models' : 'onnx';
  const id = machine.threads === 1 ? kind : `${kind}-all-threads`;
  return { id, rows: results.flatMap(rowsOfModel), origin: null };
}

/** No row for a model without times. */
function rowsOfModel({ model, program, verdict, onnxRuntime, sameCode }: Model): Row[] {
  const timing = verdict?.timing ?? null;
  if (timing === null) return [];
  const rival = onnxRuntime?.tuned ?? null;
  return [
    {
      model: model ?? program!.replace('.mlir', ''),
      ...(rival === null ? {} : { 'ONNX Runtime ms': ms(rival.seconds[0]) }),
      'stock ms': ms(timing.seconds[0]),
      'tuned ms': ms(timing.seconds[1]),
      gain: sameCode === true ? 1 : digits(timing.ratio),
      ...(rival === null ? {} : { 'against ONNX Runtime': digits(rival.ratio) }),
    },
  ];
}

function rowOfZoo({ model, seconds, gains }: Zoo['results'][number]): Row {
  const shown = (name: string) => (seconds[name] === undefined ? '-' : ms(seconds[name]));
  return {
    ...{ model, 'ONNX Runtime ms': shown('onnxRuntime'), 'OpenVINO ms': shown('openVino') },
    ...{ 'stock ms': shown('stock'), 'best of stock ms': shown('best'), 'tuned ms': shown('tuned') },
    gain: orDash(gains['stock']?.ratio),
    'against the best of stock': orDash(gains['best']?.ratio),
    'against ONNX Runtime': orDash(gains['onnxRuntime']?.ratio),
    'against OpenVINO': orDash(gains['openVino']?.ratio),
  };
}

const rowOfCommand = ({ input, what, medianMs, overElfMs, ofPip }: Overhead['results'][number]): Row => ({
  ...{ input, run: what, ms: digits(medianMs) },
  ...{ 'ms over ELF': orDash(overElfMs), "of pip's script": orDash(ofPip) },
});

const rowOfKernel = ({ shape, gflops, tunedOver }: Kernels['shapes'][number]): Row => ({
  ...{ shape: shape.name, 'tuned GFLOP/s': orDash(gflops['tuned']) },
  gain: orDash(tunedOver['stock']?.median),
  'against data tiling': orDash(tunedOver['dataTiling']?.median),
  'against OpenBLAS': orDash(tunedOver['openblas']?.median),
  'against MKL': orDash(tunedOver['mkl']?.median),
});

const rowOfCase = ({ name, seconds, ratio, cublasSeconds }: Gpu['results'][number]): Row => ({
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
const rowsOfStrategies = ({ name, untimed, searched }: Search['results'][number]): Row[] =>
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
