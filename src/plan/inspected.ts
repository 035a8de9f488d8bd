// An input, and what it is compiled for and measured on.
import type { Input } from '../input/input.ts';
import type { Site } from '../site/site.ts';

/** A command that is looked at. */
export interface Inspected {
  readonly input: Input;
  readonly site: Site;
}
