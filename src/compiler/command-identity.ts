// Keys of compiles, for memories.
import { hasFields, isText } from '../system/data.ts';
import { hostCpu } from '../system/processor.ts';
import { resultOr } from '../system/result-or.ts';
import type { Command } from './command.ts';

/** Keys of target, device and compiler. */
export interface SiteKeys {
  readonly target: string;
  readonly device: string;
  readonly compiler: string;
}

/**
 * Key of a program with its flags, target, device and compiler. It is the same on every machine, unless flags name files.
 * @param inputDigest of the program or of its bytes
 * @param data digest of the user's data for its runs; null for generated inputs
 */
export function programIdentity(
  { arguments: args, files, rewriting }: Command,
  inputDigest: string,
  { target, device, compiler }: SiteKeys,
  data: string | null = null,
): string {
  // Their paths are in the flags.
  const contents = files.ofFlags.map(([, identity]) => identity);
  const own = [inputDigest, target, device, compiler, flagsOf(args), contents];
  const rewritten = rewriting === undefined ? own : [...own, ...rewriting.names];
  return JSON.stringify(data === null ? rewritten : [...rewritten, { data }]);
}

/** The key of the same program with generated inputs. @param identity of `programIdentity` */
export const identityWithoutData = (identity: string): string =>
  JSON.stringify((JSON.parse(identity) as unknown[]).filter((part) => !hasData(part)));

const hasData = hasFields<{ readonly data: string }>({ data: isText });

/** The keys of target, device and compiler in a program's key, such as a key of a database; null for other text. */
export function placeIn(identity: string): SiteKeys | null {
  const own = resultOr((): unknown => JSON.parse(identity), null);
  if (!Array.isArray(own)) return null;
  const [, target, device, compiler] = own as unknown[];
  return typeof target === 'string' && typeof device === 'string' && typeof compiler === 'string'
    ? { target, device, compiler }
    : null;
}

/** The key of the same program on another device. @param identity of `programIdentity` */
export function identityOn(identity: string, device: string): string {
  const [digest, target, , ...rest] = JSON.parse(identity) as unknown[];
  return JSON.stringify([digest, target, device, ...rest]);
}

/** The parts of a command that determine its compile. */
type Identified = Pick<Command, 'arguments' | 'files' | 'rewriting'>;

/** Key of an input with its flags, for surveys. */
export function inputIdentity(command: Identified, inputDigest: string): string {
  const { input } = command.arguments;
  // Remembered locations contain the path.
  return JSON.stringify([
    inputDigest,
    input?.kind === 'file' ? input.path : null,
    ...commandIdentity(command),
  ]);
}

/** All that determines a compile, except its input. Includes the CPU, because a flag may say `host`. */
export function commandIdentity({ arguments: args, files, rewriting }: Identified): unknown[] {
  const { variables, ofCompiler, ofFlags } = files;
  const own = [variables, ofCompiler, flagsOf(args), ofFlags, hostCpu()];
  if (rewriting === undefined) return own;
  const { passes, input } = rewriting;
  return [...own, ...passes, ...(input === undefined ? [] : [input])];
}

const flagsOf = ({ flags }: Command['arguments']): unknown[] =>
  flags.filter(({ name }) => name !== 'o').map(({ name, value }) => [name, value]);
