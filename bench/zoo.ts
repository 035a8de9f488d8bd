// A zoo of ONNX models: stock with several flags and tuned, against ONNX Runtime and OpenVINO.
import { run } from './shared/arguments.ts';
import { measureAll } from './shared/peers/bench.ts';
import { modelsFor } from './zoo/models.ts';
import { readOptions } from './zoo/options.ts';
import { prepare } from './zoo/prepared.ts';
import { summaryText, table } from './zoo/table.ts';

async function main(): Promise<void> {
  const { models, measured, kept, seed } = readOptions();
  const results = await measureAll({
    ...{ name: 'zoo', models: modelsFor(models, seed, measured.sizes), measured, kept },
    ...{ about: { seed }, table, prepare },
  });
  console.log(`\n${summaryText(results)}`);
}

await run('bench:zoo', main);
