// A zoo of models: stock with several flags and tuned, against ONNX Runtime and OpenVINO.
import { join } from 'node:path';
import { ONNX_RUNTIME, openPeer } from './onnx/peer.ts';
import { run } from './shared/arguments.ts';
import { measureEach } from './shared/each-model.ts';
import { openPython } from './shared/python.ts';
import { openTools } from './shared/stock-and-tuned.ts';
import { driverOf } from './shared/threads.ts';
import { describeMachine, HOST_FLAGS, openWorkplace, root } from './shared/workplace.ts';
import { measure } from './zoo/measure.ts';
import { modelsFor } from './zoo/models.ts';
import { earlierResults, readOptions } from './zoo/options.ts';
import { prepareModel, requirements } from './zoo/source.ts';
import { summaryText, table } from './zoo/table.ts';

const OPENVINO = {
  name: 'OpenVINO',
  script: join(root, 'bench', 'zoo', 'openvino_runtime.py'),
  packages: ['openvino', 'torch', 'torchvision', 'timm', 'transformers'],
};

async function main(): Promise<void> {
  const options = readOptions();
  const { measured, json, seed } = options;
  const { budgetSeconds, rounds, threads } = measured;
  const earlier = earlierResults(options);
  const done = new Set(earlier.map(({ model }) => model));
  const models = modelsFor(options.models, seed).filter(({ name }) => !done.has(name));
  const driver = driverOf(threads);
  const place = await openWorkplace();
  const python = await openPython('.venv-zoo', requirements, 'torch, OpenVINO and ONNX Runtime');
  const peers = {
    onnxRuntime: await openPeer(ONNX_RUNTIME, python, threads),
    openVino: await openPeer(OPENVINO, python, threads),
  };
  const about = {
    version: 1,
    date: new Date().toISOString(),
    machine: describeMachine(driver),
    versions: {
      ...{ iree: place.description, node: process.version },
      ...{ ...peers.onnxRuntime.versions, ...peers.openVino.versions },
    },
    ...{ options: measured, seed, flags: HOST_FLAGS },
  };
  const setting = {
    ...{ peers, rounds },
    toolsIn: (folder: string) => openTools(place, { driver, budgetSeconds, folder: join(folder, 'own') }),
    prepare: (model: (typeof models)[number]) => prepareModel(model, python),
  };
  const output = { folder: place.folder, json, about, earlier };
  const results = await measureEach(models, output, table, (model, folder) =>
    measure(model, folder, setting),
  );
  console.log(`\n${summaryText(results)}`);
  if (results.some(({ state }) => state === 'not prepared')) process.exitCode = 1;
}

await run('bench:zoo', main);
