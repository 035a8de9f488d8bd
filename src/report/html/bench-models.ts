// Reads the parts of a file of `bench:models` that a page needs. Pure.
import * as v from 'valibot';
import { UserError } from '../../system/user-error.ts';

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1.0001));
const positive = v.pipe(v.number(), v.finite(), v.gtValue(0));

/** Stock time over tuned time, with its 99% interval, and the seconds of stock and tuned. */
const timing = v.object({
  ...v.entriesFromList(['ratio', 'low', 'high'] as const, positive),
  seconds: v.tuple([positive, positive]),
});

/** Shares of the stock program's time. Each share contains the next. */
const coverage = v.object({
  ...v.entriesFromList(['contractions', 'decided', 'applied'] as const, share),
  left: v.array(v.object({ reason: v.string(), share })),
});

const models = v.object({
  version: v.literal(1),
  machine: v.object({ key: v.string() }),
  results: v.array(
    v.object({
      model: v.string(),
      state: v.string(),
      reason: v.nullable(v.string()),
      sameCode: v.boolean(),
      verdict: v.nullable(v.object({ equal: v.nullable(v.boolean()), timing: v.nullable(timing) })),
      coverage: v.nullable(coverage),
    }),
  ),
});

export type Models = v.InferOutput<typeof models>;
export type Model = Models['results'][number];

/** @throws UserError for the text of another program */
export function readModels(text: string, path: string): Models {
  const way = 'give the file that `npm run bench:models -- --json FILE` has written';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError(`${path} is not JSON: ${way}`);
  }
  const result = v.safeParse(models, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue);
  throw new UserError(`${path}${where === null ? '' : `: ${where}`}: ${issue.message}: ${way}`);
}
