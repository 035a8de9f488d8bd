// Reads the parts of the files of `bench:kernels` and `bench:models` that a page needs. Pure.
import * as v from 'valibot';
import { median } from '../../measure/statistics.ts';
import { UserError } from '../../system/user-error.ts';
import { VARIANTS, type KernelsData, type ModelsData } from './data.ts';
import { short } from './numbers.ts';
import { plain } from './plain.ts';

const name = v.pipe(
  v.string(),
  v.transform((text) => plain(text, 300)),
);
const rate = v.nullable(v.pipe(v.number(), v.finite(), v.minValue(0)));
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1.0001));
const positive = v.pipe(v.number(), v.finite(), v.gtValue(0));
const about = {
  version: v.literal(1),
  date: name,
  machine: v.object({ key: name }),
  versions: v.object({ iree: v.object({ key: name }) }),
};

const kernels = v.object({
  ...about,
  options: v.object({ threads: v.number() }),
  shapes: v.array(
    v.object({
      shape: v.object({ name }),
      gflops: v.object(v.entriesFromList(VARIANTS, rate)),
      peak: v.nullable(v.array(v.object({ gflops: positive }))),
    }),
  ),
});

const timing = v.object({
  ...v.entriesFromList(['ratio', 'low', 'high'] as const, positive),
  seconds: v.tuple([positive, positive]),
});
const models = v.object({
  ...about,
  results: v.array(
    v.object({
      model: name,
      state: name,
      reason: v.nullable(name),
      sameCode: v.boolean(),
      verdict: v.nullable(v.object({ equal: v.nullable(v.boolean()), timing: v.nullable(timing) })),
      coverage: v.nullable(
        v.object({
          ...v.entriesFromList(['contractions', 'decided', 'applied'] as const, share),
          left: v.array(v.object({ reason: name, share })),
        }),
      ),
    }),
  ),
});

/** @throws UserError for the text of another program */
export function readKernels(text: string, path: string): KernelsData {
  const { date, machine, versions, options, shapes } = read(kernels, text, path, 'bench:kernels');
  const peaks = shapes.flatMap(({ peak }) => peak ?? []).map(({ gflops }) => gflops);
  return {
    ...{ date, device: machine.key, compiler: versions.iree.key, threads: options.threads },
    shapes: shapes.map(({ shape, gflops, peak }) => ({
      name: shape.name,
      rates: gflops,
      peak: peak === null || peak.length === 0 ? null : short(median(peak.map((one) => one.gflops))),
    })),
    peak: peaks.length === 0 ? null : short(median(peaks)),
  };
}

/** @throws UserError for the text of another program */
export function readModels(text: string, path: string): ModelsData {
  const { date, machine, versions, results } = read(models, text, path, 'bench:models');
  return {
    ...{ date, device: machine.key, compiler: versions.iree.key },
    models: results.map(({ model, state, reason, sameCode, verdict, coverage }) => ({
      ...{ name: model, state, reason, sameCode, coverage },
      equal: verdict?.equal ?? null,
      timing: verdict?.timing ?? null,
    })),
  };
}

function read<S extends v.GenericSchema>(
  schema: S,
  text: string,
  path: string,
  script: string,
): v.InferOutput<S> {
  const way = `give the file that \`npm run ${script} -- --json FILE\` has written`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError(`${path} is not JSON: ${way}`);
  }
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue);
  throw new UserError(`${path}${where === null ? '' : `: ${where}`}: ${issue.message}: ${way}`);
}
