// `npm run bench:results -- [--commit HASH] [FILE...]`: takes over the JSON of bench:onnx, bench:models or bench:programs, a row for
// each model, and writes bench/RESULTS.md. Without FILE it writes the page only.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { PAGE, pageOf, readRuns, VALUES, type Row, type Run } from './results.ts';

interface Timing {
  readonly ratio: number;
  /** Of stock (or ONNX Runtime) and tuned. */
  readonly seconds: readonly [number, number];
}

interface Result {
  readonly model?: string;
  readonly program?: string;
  readonly sameCode: boolean | null;
  readonly verdict: { readonly timing: Timing | null } | null;
  readonly onnxRuntime?: { readonly tuned: Timing | null } | null;
}

interface Measured {
  readonly date: string;
  readonly machine: { readonly threads: number };
  readonly results: readonly Result[];
}

const ms = (seconds: number) => Number((1000 * seconds).toPrecision(3));
const ratio = (value: number) => Number(value.toPrecision(3));

/** No row for a model without times. */
function rowOf({ model, program, verdict, onnxRuntime, sameCode }: Result): Row[] {
  const timing = verdict?.timing ?? null;
  if (timing === null) return [];
  const rival = onnxRuntime?.tuned ?? null;
  return [
    {
      model: model ?? program!.replace('.mlir', ''),
      ...(rival === null ? {} : { 'ONNX Runtime ms': ms(rival.seconds[0]) }),
      'stock ms': ms(timing.seconds[0]),
      'tuned ms': ms(timing.seconds[1]),
      gain: sameCode === true ? 1 : ratio(timing.ratio),
      ...(rival === null ? {} : { 'against ONNX Runtime': ratio(rival.ratio) }),
    },
  ];
}

/** The run with new rows; earlier rows of other models stay. */
export function withMeasured(run: Run, { date, results }: Measured, commit: string): Run {
  const rows = results.flatMap(rowOf);
  const isNew = (row: Row) => rows.some(({ model }) => model === row['model']);
  return {
    ...run,
    date: date.slice(0, 10),
    commit,
    rows: [...run.rows.filter((row) => !isNew(row)), ...rows],
  };
}

/** The id of the run that a file belongs to. */
const idOf = ({ results: [first], machine }: Measured): string =>
  (first!.program !== undefined ? 'programs' : first!.onnxRuntime === undefined ? 'models' : 'onnx') +
  (machine.threads === 1 ? '' : '-all-threads');

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { commit: { type: 'string', default: 'unknown' } },
    allowPositionals: true,
  });
  let runs = readRuns();
  for (const file of positionals) {
    const measured = JSON.parse(readFileSync(file, 'utf8')) as Measured;
    const id = idOf(measured);
    if (!runs.some((run) => run.id === id))
      throw new Error(`bench/results.json has no run "${id}": add its title and machine`);
    runs = runs.map((run) => (run.id === id ? withMeasured(run, measured, values.commit) : run));
  }
  writeFileSync(VALUES, `${JSON.stringify(runs, null, 2)}\n`);
  writeFileSync(PAGE, pageOf(runs));
}
