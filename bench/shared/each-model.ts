// Measures models one after the other, and tells of each as soon as it is measured.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './arguments.ts';
import { growingRow } from './rows.ts';

/** How results are told. */
export interface Table<Result> {
  readonly header: readonly string[];
  /** Of the columns behind the name. */
  readonly widths: readonly number[];
  cells(result: Result): string[];
  /** What stands below the row. */
  linesBelow(result: Result): string[];
  /** Of all results so far, for the JSON. */
  summarise(results: readonly Result[]): object;
}

/** Where it happens, and what is written about it. */
export interface Occasion {
  /** Each model gets a folder in it that is gone after that: modules can be large. */
  readonly folder: string;
  /** Written anew after each model; undefined for nowhere. */
  readonly json: string | undefined;
  /** What the JSON says beside the results. */
  readonly about: object;
}

/** Prints a row for each model. */
export async function measureEach<Model extends { readonly name: string }, Result>(
  models: readonly Model[],
  { folder, json, about }: Occasion,
  table: Table<Result>,
  measure: (model: Model, folder: string) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const nameWidth = Math.max(...models.map(({ name }) => name.length), table.header[0]!.length);
  const print = (cells: readonly string[], below: readonly string[]) => {
    console.log([growingRow(cells, nameWidth, table.widths), ...below].join('\n'));
  };
  print(table.header, []);
  for (const [i, model] of models.entries()) {
    say(`${model.name} (${i + 1} of ${models.length}) ...`);
    const own = join(folder, `model${i}`);
    mkdirSync(own);
    try {
      const result = await measure(model, own);
      results.push(result);
      print(table.cells(result), table.linesBelow(result));
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
