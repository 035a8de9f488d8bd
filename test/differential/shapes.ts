// Shapes of command lines. Each shape runs with every file.
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { quoteArgument } from '../support/quote-argument.ts';

export interface Shape {
  readonly name: string;
  /** Destination of the module. */
  readonly output: 'file' | 'stdout';
  /** Whether the input comes from stdin. */
  readonly stdin: boolean;
  argv(input: string): readonly string[];
  /** The text of the response file `args.rsp`, if `argv` names it. */
  response?(input: string): string;
}

/** Files in the working folder before the compiler starts. */
export const OUTPUT = 'out.vmfb';
export const RESPONSE_FILE = 'args.rsp';

const OLDER_FLAGS = ['--iree-hal-target-backends=llvm-cpu', '--iree-input-type=auto'];

export const SHAPES: readonly Shape[] = [
  {
    name: 'file',
    output: 'file',
    stdin: false,
    argv: (input) => [...HOST_FLAGS, input, '-o', OUTPUT],
  },
  {
    name: 'stdin',
    output: 'stdout',
    stdin: true,
    argv: () => ['-', ...HOST_FLAGS],
  },
  {
    name: 'response',
    output: 'file',
    stdin: false,
    argv: () => [`@${RESPONSE_FILE}`, '--o', OUTPUT],
    response: (input) => [...OLDER_FLAGS, input].map(quoteArgument).join('\n'),
  },
  {
    name: 'split',
    output: 'file',
    stdin: false,
    argv: (input) => ['-split-input-file', `-o=${OUTPUT}`, ...OLDER_FLAGS, '--', input],
  },
];
