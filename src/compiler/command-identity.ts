// What makes a compile the same as another one.
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { fileIdentity } from '../system/files.ts';
import { hostCpu } from '../system/processor.ts';
import type { Command } from './command.ts';
import { isNeutral } from './flag-roles.ts';
import { compilerIdentity } from './identity.ts';

/**
 * The same program under the same flags, compiled by the same version of the compiler for the same device: the same on every
 * machine, but where flags name files.
 * @param place keys of target, device and compiler
 */
export function programIdentity(
  { arguments: args, rewriting }: Command,
  inputDigest: string,
  {
    target,
    device,
    compiler,
  }: { readonly target: string; readonly device: string; readonly compiler: string },
): string {
  const files = filesOfFlags(args).map((path) => fileIdentity(path));
  const own = [inputDigest, target, device, compiler, flagsOf(args), files];
  // The file is called by a digest of its content, wherever it lies.
  return JSON.stringify(rewriting === undefined ? own : [...own, basename(rewriting.path)]);
}

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
  const files = filesOfFlags(args).map((path) => fileIdentity(path));
  const own = [compilerIdentity(compiler.executable), flagsOf(args), files, hostCpu()];
  return rewriting === undefined ? own : [...own, rewriting.pass];
}

const flagsOf = ({ flags }: Command['arguments']): unknown[] =>
  flags.filter(({ name }) => name !== 'o').map(({ name, value }) => [name, value]);

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
