// OpenBLAS and MKL, from a Python environment inside the checkout.
import { join } from 'node:path';
import { execa } from 'execa';
import { BenchError, say } from './arguments.ts';
import { openPython } from './python.ts';
import type { Shape } from './shape.ts';
import { lastLine, root } from './workplace.ts';

export type Library = 'openblas' | 'mkl';

export interface Blas {
  /** Version of each library; null if there is no package for this machine. */
  readonly versions: Readonly<Record<Library | 'python' | 'numpy', string | null>>;
  /** Undisturbed seconds of one f32 product, timed in a process of its own. */
  time(library: Library, shape: Shape, threads: number, minSeconds: number): Promise<number>;
}

const requirements = join(root, 'bench', 'requirements-bench.txt');
const script = join(root, 'bench', 'blas.py');

/** Installs the libraries if they are missing. If that fails, prints a message and returns null. */
export async function openBlas(): Promise<Blas | null> {
  try {
    const python = await openPython('.venv-bench', requirements, 'numpy and MKL');
    const versions = (await runScript(python, ['versions'])) as Blas['versions'];
    for (const [library, name] of [
      ['openblas', 'numpy with OpenBLAS'],
      ['mkl', 'MKL'],
    ] as const)
      if (versions[library] === null)
        say(`There is no package of ${name} for this machine: its column is "-".`);
    return {
      versions,
      async time(library, { m, n, k }, threads, minSeconds) {
        const result = await runScript(python, [
          'time',
          library,
          ...[m, n, k].map(String),
          String(threads),
          String(minSeconds),
        ]);
        return (result as { seconds: number }).seconds;
      },
    };
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    say(`${error.message}\nThe columns of OpenBLAS and MKL are "-".`);
    return null;
  }
}

async function runScript(python: string, argv: readonly string[]): Promise<unknown> {
  const result = await execa(python, [script, ...argv], { reject: false, stdin: 'ignore' });
  if (result.exitCode !== 0) throw new BenchError(`blas.py ${argv.join(' ')} failed: ${lastLine(result)}`);
  return JSON.parse(result.stdout);
}
