// Which part of the database a command is about: the same options for all of them.
import type { Command as Program } from 'commander';
import type { Filter } from '../store/filter.ts';
import type { RecordKey } from '../store/store.ts';

const OPTIONS = {
  workload: 'only workloads whose key contains this text',
  target: 'only targets whose key contains this text',
  compiler: 'only compilers whose key contains this text, such as a version',
  device: 'only devices whose key contains this text',
} as const satisfies Record<keyof Filter, string>;

/** Adds an option for each part, but the workload where the command asks for that otherwise. */
export function withFilters(command: Program, parts = Object.keys(OPTIONS)): Program {
  for (const [part, description] of Object.entries(OPTIONS))
    if (parts.includes(part)) command.option(`--${part} <text>`, description);
  return command;
}

/** What they say. Two of them are options of all commands, too, and arrive there. */
export function filterOf(program: Program): Filter {
  const { workload, target, compiler, device } = program.optsWithGlobals<Filter>();
  return {
    ...(workload !== undefined && { workload }),
    ...(target !== undefined && { target }),
    ...(compiler !== undefined && { compiler }),
    ...(device !== undefined && { device }),
  };
}

/** Whether workload, target or device contain a text; everything does without one. */
export const contains = ({ workload, target, device }: RecordKey, text: string | undefined): boolean =>
  text === undefined || [workload, target, device].some((key) => key.includes(text));

/** A filter in words, such as ` with device "zen4"`; empty for none. */
export const inWords = (filter: Filter, text?: string): string => {
  const parts = Object.entries(filter).map(([part, value]) => ` with ${part} "${value}"`);
  return [...(text === undefined ? [] : [` that contain "${text}"`]), ...parts].join('');
};
