// Imports ONNX models as MLIR.
import { existsSync, renameSync } from 'node:fs';
import { runPython } from '../exporter.ts';

/**
 * Imports a model, unless its program exists. Its graph keeps its name, because the compiler names code after it.
 * @param program path of the output, in the torch dialect, with one function, named after the graph
 * @param name for messages
 * @throws BenchError when the model cannot be imported
 */
export async function importOnnx(python: string, onnx: string, program: string, name: string): Promise<void> {
  if (existsSync(program)) return;
  const part = `${program}.part`;
  const argv = ['-m', 'iree.compiler.tools.import_onnx', onnx, '-o', part];
  await runPython(python, argv, `${name}: it cannot be imported by ${python} ${argv.join(' ')}`);
  // Rename last, so that an existing file is complete.
  renameSync(part, program);
}
