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

/** Files that flags name, such as parameters. Their contents affect the compile. */
export function filesOfFlags({ flags }: Command['arguments']): string[] {
  const named = flags.flatMap((flag) => {
    if (flag.value === null || isNeutral(flag)) return [];
    // A parameter file may have a scope: `SCOPE=PATH`.
    return [...new Set([flag.value, flag.value.slice(flag.value.lastIndexOf('=') + 1)])];
  });
  // Most values are no paths.
  return named.filter((path) => resultOr(() => statSync(path).isFile(), false));
}
