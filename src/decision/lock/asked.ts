// The key by which a lock file is asked about a program.
import { dirname, relative, resolve, sep } from 'node:path';
import { versionKey } from '../../compiler/describe.ts';
import { candidateFlags, inputFlags } from '../../compiler/flag-roles.ts';
import type { Command } from '../../compiler/command.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Site } from '../../site/site.ts';
import { sizesText } from '../../workload/sizes.ts';
import type { AskedProgram } from './find.ts';

/** @param path path of the lock file */
export function askedOf(
  { arguments: { input, flags } }: Command,
  digest: string,
  { compiler, target }: Pick<Site, 'compiler' | 'target'>,
  { inject, sizes }: Pick<Settings, 'inject' | 'sizes'>,
  path: string,
): AskedProgram {
  const folder = dirname(resolve(path));
  return {
    program: input?.kind === 'file' ? relative(folder, resolve(input.path)).split(sep).join('/') : null,
    digest,
    // A lock file is shared by machines that have built the compiler themselves.
    compiler: versionKey(compiler.key),
    target: target.key,
    flags: [...candidateFlags(flags), ...inputFlags(flags)],
    inject,
    dim: sizesText(sizes),
  };
}
