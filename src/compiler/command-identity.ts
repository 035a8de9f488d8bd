// Keys of compiles, for memories.
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { resultOr } from '../system/result-or.ts';
import { fileIdentity } from '../system/files.ts';
import { hostCpu } from '../system/processor.ts';
import type { Command } from './command.ts';
import { isNeutral } from './flag-roles.ts';
import { compilerIdentity } from './identity.ts';

/**
 * Key of a program with its flags, target, device and compiler. It is the same on every machine, unless flags name files.
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
  // The file's name is a digest of its content, so leave out its folder.
  return JSON.stringify(rewriting === undefined ? own : [...own, basename(rewriting.path)]);
}

/** Key of an input with its flags, for surveys. */
export function inputIdentity(command: Command, inputDigest: string): string {
  const { input } = command.arguments;
  // Remembered locations contain the path.
  return JSON.stringify([
    inputDigest,
    input?.kind === 'file' ? input.path : null,
    ...commandIdentity(command),
  ]);
}

/** All that determines a compile, except its input. Includes the CPU, because a flag may say `host`. */
export function commandIdentity({ compiler, arguments: args, rewriting }: Command): unknown[] {
  const files = filesOfFlags(args).map((path) => fileIdentity(path));
  const own = [compilerIdentity(compiler.executable), flagsOf(args), files, hostCpu()];
  return rewriting === undefined ? own : [...own, rewriting.pass];
}

const flagsOf = ({ flags }: Command['arguments']): unknown[] =>
  flags.filter(({ name }) => name !== 'o').map(({ name, value }) => [name, value]);

const named = new WeakMap<Command['arguments'], readonly string[]>();

/** Files that flags name, such as parameters. Their contents affect the compile. */
export function filesOfFlags(args: Command['arguments']): readonly string[] {
  const found = named.get(args) ?? valuesOf(args).filter((path) => statOf(path)?.isFile() === true);
  named.set(args, found);
  return found;
}

/** Size of these files together. */
export const bytesOfFlags = (args: Command['arguments']): number =>
  filesOfFlags(args).reduce((sum, path) => sum + (statOf(path)?.size ?? 0), 0);

const statOf = (path: string) => resultOr(() => statSync(path, { throwIfNoEntry: false }), undefined);

/** Values of flags that may be paths. */
const valuesOf = ({ flags }: Command['arguments']): string[] =>
  flags.flatMap((flag) => {
    if (flag.value === null || isNeutral(flag)) return [];
    // A parameter file may have a scope: `SCOPE=PATH`.
    return [...new Set([flag.value, flag.value.slice(flag.value.lastIndexOf('=') + 1)])];
  });
