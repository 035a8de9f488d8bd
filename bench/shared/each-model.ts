// Measures models one after the other, and prints each result at once.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './arguments.ts';
import { growingRow } from './rows.ts';

/** Texts of results. */
export interface Table<Result> {
  readonly header: readonly string[];
  /** Widths of the columns; that of the first column is not used. */
  readonly widths: readonly number[];
  cells(result: Result): string[];
  /** Lines below the row. */
  linesBelow(result: Result): string[];
  /** Summary of all results so far, for the JSON. */
  summarise(results: readonly Result[]): object;
}

export interface Output<Result> {
  /** Parent of each model's folder, which is removed after the measurement because modules can be large. */
  readonly folder: string;
  /** Path of the JSON, which is rewritten after each model; undefined for none. */
  readonly json: string | undefined;
  /** More fields of the JSON. */
  readonly about: object;
  /** Results of an earlier run, which are shown again. */
  readonly earlier?: readonly Result[];
}

/** Prints a row for each result. */
export async function measureEach<Model extends { readonly name: string }, Result>(
  models: readonly Model[],
  { folder, json, about, earlier = [] }: Output<Result>,
  table: Table<Result>,
  measure: (model: Model, folder: string) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results = [...earlier];
  const names = [...models.map(({ name }) => name), ...earlier.map((one) => table.cells(one)[0]!)];
  const nameWidth = Math.max(...[...names, table.header[0]!].map(({ length }) => length));
  const print = (cells: readonly string[], below: readonly string[]) => {
    console.log([growingRow(cells, nameWidth, table.widths), ...below].join('\n'));
  };
  const show = (result: Result) => {
    print(table.cells(result), table.linesBelow(result));
  };
  print(table.header, []);
  earlier.forEach(show);
  for (const [i, model] of models.entries()) {
    say(`${model.name} (${i + 1} of ${models.length}) ...`);
    const own = join(folder, `model${i}`);
    mkdirSync(own);
    try {
      const measured = await measure(model, own);
      results.push(...measured);
      measured.forEach(show);
    } finally {
      rmSync(own, { recursive: true });
    }
    if (json !== undefined)
      writeFileSync(
        json,
        `${JSON.stringify({ ...about, summary: table.summarise(results), results }, null, 2)}\n`,
      );
  }
  return results;
}
