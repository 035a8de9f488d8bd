// What tests have to know of the processor that they run on.
import { readFileSync } from 'node:fs';
import { platform } from 'node:process';

/**
 * Whether vectors are of 64 bytes. The compiler's default makes scalar code of odd sizes there, so that a real search of a small
 * matmul has something to find; on narrower vectors it is often the best.
 */
export const hasWideVectors =
  platform === 'linux' && readFileSync('/proc/cpuinfo', 'utf8').includes('avx512f');
