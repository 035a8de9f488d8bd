// cuBLAS as a peer of matmuls on CUDA.
import { join } from 'node:path';
import { execa } from 'execa';
import { BenchError, say } from '../shared/arguments.ts';
import { lastLine, root } from '../shared/workplace.ts';
import type { Case } from './cases.ts';

const MISSING = 3;

/**
 * Seconds of one product; null for another operation, and where cuBLAS is missing.
 * @throws BenchError when cuBLAS fails
 */
export async function cublasSeconds({ operation, lhs, result, type }: Case): Promise<number | null> {
  if (operation !== 'matmul') return null;
  const sizes = [result[0], result[1], lhs[1]].map(String);
  const script = join(root, 'bench', 'cublas.py');
  const done = await execa('python3', [script, ...sizes, type], { reject: false, stdin: 'ignore' });
  if (done.exitCode === MISSING) {
    say(`The column of cuBLAS is "-": ${lastLine(done)}.`);
    return null;
  }
  if (done.exitCode !== 0) throw new BenchError(`cublas.py failed: ${lastLine(done)}`);
  return Number(done.stdout);
}
