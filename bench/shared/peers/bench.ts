// A bench of ONNX models: stock with several flags and tuned, against the peers.
import { join } from 'node:path';
import { measureEach, type Table } from '../each-model.ts';
import { openPython } from '../python.ts';
import { openTools } from '../stock-and-tuned.ts';
import { driverOf } from '../threads.ts';
import { aboutRun, HOST_FLAGS, openWorkplace } from '../workplace.ts';
import { earlierResults, type Kept } from './earlier.ts';
import { measure, type Result } from './measure.ts';
import type { Measured } from './options.ts';
import { openPeers, versionsOf, type Prepared } from './peer.ts';

/** Of the packages of exporters, importer and peers. */
export const requirements = join(import.meta.dirname, 'requirements.txt');

export interface Bench<Model> {
  /** Its name in `npm run bench:NAME`. */
  readonly name: string;
  readonly models: readonly Model[];
  /** Options that change the results. */
  readonly measured: Measured;
  readonly kept: Kept;
  /** More fields of the JSON. */
  readonly about: object;
  readonly table: Table<Result>;
  /**
   * Makes the files of a model.
   * @param python of an environment with the requirements
   * @throws BenchError when that fails
   */
  readonly prepare: (model: Model, python: string) => Promise<Prepared>;
}

/** Prints a row for each model. A model that cannot be prepared sets the exit code. */
export async function measureAll<Model extends { readonly name: string }>({
  name,
  models,
  measured,
  kept,
  about,
  table,
  prepare,
}: Bench<Model>): Promise<Result[]> {
  const { budgetSeconds, rounds, threads } = measured;
  const earlier = earlierResults(kept, measured);
  const done = new Set(earlier.map(({ model }) => model));
  const driver = driverOf(threads);
  const place = await openWorkplace();
  const python = await openPython('.venv-zoo', requirements, 'torch, OpenVINO and ONNX Runtime');
  const peers = await openPeers(python, threads);
  const versions = { iree: place.description, ...versionsOf(peers) };
  const output = {
    ...{ folder: place.folder, json: kept.json, earlier },
    about: { ...aboutRun(name, driver, versions), options: measured, ...about, flags: HOST_FLAGS },
  };
  const setting = {
    ...{ peers, rounds },
    toolsIn: (folder: string) => openTools(place, { driver, budgetSeconds, folder: join(folder, 'own') }),
  };
  const left = models.filter((model) => !done.has(model.name));
  const results = await measureEach(left, output, table, async (model, folder) => [
    await measure(model.name, () => prepare(model, python), folder, setting),
  ]);
  if (results.some(({ state }) => state === 'not prepared')) process.exitCode = 1;
  return results;
}
