// A user's restriction of a search space, checked against the knobs of a backend. Pure.
import { UserError } from '../system/user-error.ts';
import type { IllegalValue, KnobValues, UserKnob } from './backend.ts';
import { LARGEST_TILE } from './schema.ts';
import { ascending } from '../workload/sizes.ts';

export interface WrittenKnob {
  readonly name: string;
  readonly values: readonly (string | number | boolean)[];
  /** `file:line`, for messages. */
  readonly where: string;
}

const MOST_VALUES = 1000;

/**
 * The user's values of knobs; undefined without a restriction. The last of several lists for one knob applies.
 * @throws UserError for a value that no workload can have; it names the place and the broken rule
 */
export function readUserSpace(
  written: readonly WrittenKnob[],
  knobs: readonly UserKnob[],
): KnobValues | undefined {
  const allowed: Record<string, readonly number[]> = {};
  for (const { name, values, where } of written) {
    const knob = knobs.find((one) => one.name === name);
    if (knob === undefined)
      throw new UserError(
        `${where}: unknown knob "${name}": the knobs are ${knobs.map((one) => one.name).join(', ')}`,
      );
    if (values.length === 0 || values.length > MOST_VALUES)
      throw new UserError(`${where}: ${name}: write a list of 1 to ${MOST_VALUES} values`);
    const numbers = values.map((value) => valueOf(knob, value, where));
    allowed[name] = ascending(numbers);
  }
  return written.length === 0 ? undefined : allowed;
}

function valueOf({ name, type, least }: UserKnob, value: string | number | boolean, where: string): number {
  if (type === 'boolean') {
    if (typeof value !== 'boolean') throw new UserError(`${where}: ${name}: ${value} is not true or false`);
    return Number(value);
  }
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > LARGEST_TILE)
    throw new UserError(`${where}: ${name}: ${value} is not a whole number from ${least} to ${LARGEST_TILE}`);
  return value;
}

/** Illegal values for a workload, one line each. */
export const describeIllegal = (workload: string, illegal: readonly IllegalValue[]): string[] =>
  illegal.map(({ knob, value, rule }) => `${knob}=${value} is left out for ${workload}: ${rule}`);
