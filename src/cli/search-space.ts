// What a user allows of a search space: read from a file, and kept to.
import { readFileSync } from 'node:fs';
import { backendNamed } from '../backend/index.ts';
import { describeIllegal, readUserSpace, type WrittenKnob } from '../backend/user-space.ts';
import { parseConfigText } from '../settings/config-text.ts';
import type { Site } from '../site/site.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { warn } from './output.ts';

/**
 * Knobs of a file such as `{"distribution_m": [64, 128], "peeling": [false]}`.
 * @throws UserError with its name and line
 */
export function readSpaceFile(path: string): WrittenKnob[] {
  const { entries, problem } = parseConfigText(readText(path));
  if (problem !== null) throw new UserError(`${path}:${problem}`);
  return entries.map(({ key, value, line }) => ({
    name: key,
    values: typeof value === 'object' ? value : [value],
    where: `${path}:${line}`,
  }));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/**
 * Work that is to try nothing but what a file allows. Values that some workload cannot have are told on stderr; where nothing is
 * left that it can, there is nothing to search.
 * @param path of the file; all of the space when left out
 */
export const restricted = (works: readonly Work[], site: Site, path: string | undefined): readonly Work[] =>
  path === undefined ? works : restrictedTo(works, site, readSpaceFile(path));

/** The same with what was written. */
export function restrictedTo(
  works: readonly Work[],
  site: Site,
  written: readonly WrittenKnob[],
): readonly Work[] {
  const backend = backendNamed(site.target.key);
  if (backend === undefined) return works;
  const only = readUserSpace(written, backend.userKnobs, backend.largestTile);
  if (only === undefined) return works;
  const isOurs = ({ workload }: Work) => backend.isRestrictable(workload);
  for (const { key } of works.filter((work) => !isOurs(work)))
    warn(`${key} is left out: a search space is one of matmuls`);
  return works.filter(isOurs).map((work): Work => {
    const options = { ...work.options, only };
    for (const line of describeIllegal(work.key, backend.illegalValues(work.workload, options))) warn(line);
    return { ...work, options };
  });
}
