// What makes a compile the same as another one.
import { statSync } from 'node:fs';
import { fileIdentity } from '../system/files.ts';
import { hostCpu } from '../system/processor.ts';
import type { Command } from './command.ts';
import { isNeutral } from './flag-roles.ts';
import { compilerIdentity } from './identity.ts';

/** The same program under the same flags, whatever its file is called, run on the same device. */
export const programIdentity = (command: Command, inputDigest: string, deviceKey: string): string =>
  JSON.stringify([inputDigest, deviceKey, ...commandIdentity(command)]);

/** The same input under the same flags: what a survey of it is remembered by. */
export function inputIdentity(command: Command, inputDigest: string): string {
  const { input } = command.arguments;
  // Places in the input are remembered with the name that it had.
  return JSON.stringify([
    inputDigest,
    input?.kind === 'file' ? input.path : null,
    ...commandIdentity(command),
  ]);
}

/** What decides about a compile beside its input. `host` in a flag is not the same CPU on every machine. */
export function commandIdentity({ compiler, arguments: args, rewriting }: Command): unknown[] {
  const flags = args.flags.filter(({ name }) => name !== 'o').map(({ name, value }) => [name, value]);
  const files = filesOfFlags(args).map((path) => fileIdentity(path));
  const own = [compilerIdentity(compiler.executable), flags, files, hostCpu()];
  return rewriting === undefined ? own : [...own, rewriting.pass];
}

/** Files that flags name, such as parameters: what is in them decides about a compile like the flags themselves. */
export function filesOfFlags({ flags }: Command['arguments']): string[] {
  const named = flags.flatMap((flag) => {
    if (flag.value === null || isNeutral(flag)) return [];
    // A scope of parameters stands before its file.
    return [...new Set([flag.value, flag.value.slice(flag.value.lastIndexOf('=') + 1)])];
  });
  return named.filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Most values are no paths at all.
    return false;
  }
}
