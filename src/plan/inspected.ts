// A program to compile: its command, its input, its target and its device.
import type { Command } from '../compiler/command.ts';
import type { Input } from '../input/input.ts';
import type { Site } from '../site/site.ts';

/** The input of a command, and its site. */
export interface Inspected {
  readonly input: Input;
  readonly site: Site;
}

/** A program, as written or in other forms. */
export interface FormedProgram {
  readonly command: Command;
  /** With the operations that the compiler makes of the forms. */
  readonly inspected: Inspected;
}
