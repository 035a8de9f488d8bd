// A language model with random weights: tokens a second of stock and tuned, against ONNX Runtime and OpenVINO.
import { modelsFor } from './decoder/models.ts';
import { readOptions } from './decoder/options.ts';
import { prepare } from './decoder/prepared.ts';
import { table } from './decoder/table.ts';
import { run } from './shared/arguments.ts';
import { measureAll } from './shared/peers/bench.ts';
import { summaryText } from './shared/peers/table.ts';

async function main(): Promise<void> {
  const { models, measured, kept } = readOptions();
  const results = await measureAll({
    ...{ name: 'decoder', models: modelsFor(models), measured, kept, about: {}, table },
    prepare: (model, python) => prepare(model, measured.sizes, python),
  });
  console.log(`\n${summaryText(results)}`);
}

await run('bench:decoder', main);
