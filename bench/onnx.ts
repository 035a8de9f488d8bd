// ONNX models: stock and tuned against ONNX Runtime.
import { measure } from './onnx/measure.ts';
import { readOptions } from './onnx/options.ts';
import { ONNX_RUNTIME, openPeer } from './onnx/peer.ts';
import { lightModels, prepare, requestsFor, requirements } from './onnx/prepared.ts';
import { summaryText, table } from './onnx/table.ts';
import { run } from './shared/arguments.ts';
import { measureEach } from './shared/each-model.ts';
import { openPython } from './shared/python.ts';
import { openTools } from './shared/stock-and-tuned.ts';
import { driverOf } from './shared/threads.ts';
import { describeMachine, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';

async function main(): Promise<void> {
  const { models, rounds, threads, sizes, archive, json, folder, budgetSeconds } = readOptions();
  const driver = driverOf(threads);
  const place = await openWorkplace();
  const tools = openTools(place, { driver, budgetSeconds, folder });
  const python = await openPython('.venv-onnx', requirements, 'onnx and ONNX Runtime');
  const light = await lightModels(python);
  const peer = await openPeer(ONNX_RUNTIME, python, threads);
  const about = {
    version: 1,
    date: new Date().toISOString(),
    machine: describeMachine(driver),
    versions: { iree: place.description, node: process.version, ...peer.versions },
    options: { budgetSeconds, rounds, threads, sizes, flags: HOST_FLAGS },
  };
  const results = await measureEach(
    requestsFor(models, light, archive),
    { folder: place.folder, json, about },
    table,
    (request, own) =>
      measure(request, own, {
        ...{ tools, peer, rounds },
        prepare: (one) => prepare(one, sizes, light, python),
      }),
  );
  console.log(`\n${summaryText(results)}`);
  if (results.some(({ state }) => state === 'not prepared')) process.exitCode = 1;
}

await run('bench:onnx', main);
