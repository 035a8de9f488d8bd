// This machine's peak rate of f32 multiply-adds, measured by a small C program.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { say } from './arguments.ts';
import { lastLine, root } from './workplace.ts';

export interface Peak {
  readonly gflops: number;
  readonly vectorBits: number;
  readonly chains: number;
}

/** Measures the peak of `threads` threads. */
export type MeasurePeak = (threads: number) => Promise<Peak>;

/** Compiles the program for this CPU. If that fails, prints a message and returns null. */
export async function buildPeak(): Promise<MeasurePeak | null> {
  const folder = join(root, '.cache', 'bench');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'fma-peak');
  const source = join(root, 'bench', 'fma-peak.c');
  const flags = ['-O3', '-march=native', '-pthread'];
  const build = await execa('cc', [...flags, source, '-o', program], { reject: false, stdin: 'ignore' });
  if (build.exitCode !== 0) {
    say(`The FMA peak is not measured, because cc failed: ${lastLine(build)}`);
    return null;
  }
  return async (threads) =>
    JSON.parse((await execa(program, [String(threads)], { stdin: 'ignore' })).stdout) as Peak;
}
