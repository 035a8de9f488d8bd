// The search space of a user, read from a file.
import { backendNamed } from '../backend/index.ts';
import { describeIllegal, readUserSpace, type WrittenKnob } from '../backend/user-space.ts';
import { parseConfigText } from '../settings/config-text.ts';
import type { Site } from '../site/site.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { UserError } from '../system/user-error.ts';
import { readText } from './files.ts';
import { warn } from './output.ts';

/**
 * Knobs of a file such as `{"distribution_m": [64, 128], "peeling": [false]}`.
 * @param path undefined for the whole space
 * @returns null for the whole space
 * @throws UserError with the file and the line
 */
export function readSpaceFile(path: string | undefined): WrittenKnob[] | null {
  if (path === undefined) return null;
  const { entries, problem } = parseConfigText(readText(path));
  if (problem !== null) throw new UserError(`${path}:${problem}`);
  return entries.map(({ key, value, line }) => ({
    name: key,
    values: typeof value === 'object' ? value : [value],
    where: `${path}:${line}`,
  }));
}

/** Restricts works to written values; null for the whole space. Illegal values of a workload are printed on stderr. */
export function restricted(
  works: readonly Work[],
  site: Site,
  written: readonly WrittenKnob[] | null,
): readonly Work[] {
  const backend = backendNamed(site.target.key);
  if (written === null || backend === undefined) return works;
  const only = readUserSpace(written, backend.userKnobs);
  if (only === undefined) return works;
  const isOurs = ({ workload }: Work) => backend.tuning(workload).illegalValues !== undefined;
  for (const { key } of works.filter((work) => !isOurs(work)))
    warn(`${key} is left out: a search space restricts matmuls only`);
  return works.filter(isOurs).map((work): Work => {
    const options = { ...work.options, only };
    const illegal = backend.tuning(work.workload).illegalValues?.(options) ?? [];
    for (const line of describeIllegal(work.key, illegal)) warn(line);
    return { ...work, options };
  });
}
