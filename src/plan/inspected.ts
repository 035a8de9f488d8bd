// A program to compile: its input, its target and its device.
import type { Input } from '../input/input.ts';
import type { Site } from '../site/site.ts';

/** The input of a command, and its site. */
export interface Inspected {
  readonly input: Input;
  readonly site: Site;
}
