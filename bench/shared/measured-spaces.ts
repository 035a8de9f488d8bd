// Search spaces with many measured configurations, as lines of JSON, one for each workload.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { SpaceOptions } from '../../src/backend/backend.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { root } from './workplace.ts';

export interface MeasuredSpace {
  /** Such as `512x512x512xf16`. */
  readonly name: string;
  readonly workload: OperationWork;
  readonly options: SpaceOptions;
  readonly device: string;
  /** Seconds of one execution of the default. */
  readonly defaultSeconds: number;
  /** Each configuration with default time over its time; null for a failure. */
  readonly trials: readonly (readonly [configuration: Configuration, ratio: number | null])[];
}

/** @param path of a gzipped file; without the file, the result is empty */
export function readSpaces(path: string): MeasuredSpace[] {
  if (!existsSync(path)) return [];
  const lines = gunzipSync(readFileSync(path)).toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as MeasuredSpace);
}

/** Paths of all files in `bench/data/spaces`. */
export function spaceFiles(): string[] {
  const folder = join(root, 'bench/data/spaces');
  return readdirSync(folder).map((file) => join(folder, file));
}

export const writeSpaces = (path: string, spaces: readonly MeasuredSpace[]): void => {
  writeFileSync(path, gzipSync(spaces.map((space) => `${JSON.stringify(space)}\n`).join(''), { level: 9 }));
};
