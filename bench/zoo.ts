// A zoo of ONNX models: stock with several flags and tuned, against ONNX Runtime and OpenVINO.
import { join } from 'node:path';
import { run } from './shared/arguments.ts';
import { measureEach } from './shared/each-model.ts';
import { openPython } from './shared/python.ts';
import { openTools } from './shared/stock-and-tuned.ts';
import { driverOf } from './shared/threads.ts';
import { aboutRun, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';
import { measure } from './zoo/measure.ts';
import { modelsFor, type Model } from './zoo/models.ts';
import { earlierResults, readOptions } from './zoo/options.ts';
import { ONNX_RUNTIME, openPeer, OPENVINO } from './zoo/peer.ts';
import { prepare, requirements } from './zoo/prepared.ts';
import { summaryText, table } from './zoo/table.ts';

async function main(): Promise<void> {
  const options = readOptions();
  const { measured, json, seed } = options;
  const { budgetSeconds, rounds, threads, sizes } = measured;
  const earlier = earlierResults(options);
  const done = new Set(earlier.map(({ model }) => model));
  const models = modelsFor(options.models, seed, sizes).filter(({ name }) => !done.has(name));
  const driver = driverOf(threads);
  const place = await openWorkplace();
  const python = await openPython('.venv-zoo', requirements, 'torch, OpenVINO and ONNX Runtime');
  const peers = {
    onnxRuntime: await openPeer(ONNX_RUNTIME, python, threads),
    openVino: await openPeer(OPENVINO, python, threads),
  };
  const versions = { ...peers.onnxRuntime.versions, ...peers.openVino.versions };
  const about = {
    ...aboutRun('zoo', driver, { iree: place.description, ...versions }),
    ...{ options: measured, seed, flags: HOST_FLAGS },
  };
  const setting = {
    ...{ peers, rounds },
    toolsIn: (folder: string) => openTools(place, { driver, budgetSeconds, folder: join(folder, 'own') }),
    prepare: (model: Model) => prepare(model, python),
  };
  const output = { folder: place.folder, json, about, earlier };
  const results = await measureEach(models, output, table, async (model, folder) => [
    await measure(model, folder, setting),
  ]);
  console.log(`\n${summaryText(results)}`);
  if (results.some(({ state }) => state === 'not prepared')) process.exitCode = 1;
}

await run('bench:zoo', main);
