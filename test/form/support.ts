import { execa } from 'execa';
import { isFull } from '../support/needs.ts';

/** The output of a program. */
export const outputOf = async (program: string, argv: readonly string[]): Promise<string> =>
  (await execa(program, argv, { stdin: 'ignore' })).stdout;

export const TARGET = [
  '--iree-hal-target-device=local',
  `--iree-hal-local-target-device-backends=${isFull ? 'llvm-cpu' : 'vmvx'}`,
];
