// Prepares the calls of a decoder for all contestants.
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelFolder, runPython } from '../shared/exporter.ts';
import { requirements } from '../shared/peers/bench.ts';
import { importOnnx } from '../shared/peers/import.ts';
import type { Prepared } from '../shared/peers/peer.ts';
import { openPython } from '../shared/python.ts';
import { root } from '../shared/workplace.ts';
import type { Model, Sizes } from './models.ts';

const script = (name: string) => join(root, 'bench', 'decoder', name);
const turbineRequirements = script('requirements.txt');
const sources = [
  script('network.py'),
  script('export.py'),
  script('turbine.py'),
  turbineRequirements,
  requirements,
];

/** Makes the files of a model. @param python of an environment with the requirements of the zoo */
export async function prepare(model: Model, sizes: Sizes, python: string): Promise<Prepared> {
  const { name, type, phase, size } = model;
  const numbers = [sizes.layers, sizes.width, sizes.heads, sizes.vocabulary].map(String);
  const folder = join(modelFolder('decoder', sources), numbers.join('x'));
  const own = join(folder, `${type}-${phase}-${size}`);
  mkdirSync(own, { recursive: true });
  const about = join(own, 'model.json');
  if (!existsSync(about))
    await runPython(
      python,
      ['-W', 'ignore', script('export.py'), own, type, phase, String(size), ...numbers],
      name,
    );
  const { inputs } = JSON.parse(readFileSync(about, 'utf8')) as Pick<Prepared, 'inputs'>;
  const onnx = join(own, 'model.onnx');
  const common = { onnx, inputs, original: null, rowSize: sizes.vocabulary };
  if (model.isDynamic) {
    const { program, weights } = await exportDynamic(join(folder, type), type, numbers, python);
    const flags = [`--parameters=model=${weights}`];
    const dim = phase === 'prefill' ? `prefill.arg0.0=1 prefill.arg0.1=${size}` : `decode.arg*.0=${size}`;
    const settings = { DIM: dim, INPUT: `parameters=model=@${weights}` };
    return { ...common, program, flags, settings, function: phase };
  }
  const program = join(own, 'model.mlir');
  await importOnnx(python, onnx, program, name);
  return { ...common, program, flags: [], function: null };
}

/** Paths of the program of both functions with dynamic sizes, and of its weights. */
async function exportDynamic(folder: string, type: string, numbers: readonly string[], python: string) {
  const program = join(folder, 'decoder.mlir');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(program)) {
    const turbine = await openPython('.venv-turbine', turbineRequirements, 'iree-turbine');
    // It has no torch of its own, which takes 7 GB.
    const [torch] = globSync(join(python, '../../lib/python*/site-packages'));
    const argv = ['-W', 'ignore', script('turbine.py'), folder, type, ...numbers];
    await runPython(turbine, argv, 'iree-turbine', { PYTHONPATH: torch! });
  }
  return { program, weights: join(folder, 'decoder.irpa') };
}
