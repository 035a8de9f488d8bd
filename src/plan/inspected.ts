// An input, its target, and the device that it is measured on.
import type { Input } from '../input/input.ts';
import type { Site } from '../site/site.ts';

/** A command that is looked at. */
export interface Inspected {
  readonly input: Input;
  readonly site: Site;
}
