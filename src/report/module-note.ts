// Notes about delivered modules, for `iree-tuned which`: the records in a module, by the SHA-256 of its bytes.
import { statSync } from 'node:fs';
import type { Configuration } from '../backend/configuration.ts';
import { configurationText, isConfiguration } from '../backend/index.ts';
import { filesAt, MODULES } from '../system/cache.ts';
import { hasFields, isNumber, isObject, isText, listOf, pick } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { removeOldest } from '../system/files.ts';
import type { ExplainedOperation } from './explain.ts';

/** Largest size of all notes, in bytes. The oldest are removed first. */
const LARGEST_BYTES = 16 * 2 ** 20;

/** Places of one decision that are kept. */
const MOST_PLACES = 5;

const OF_OPERATION = [
  ...(['operation', 'workload', 'target', 'code', 'reason'] as const),
  ...(['configuration', 'speedup', 'landed', 'source', 'record'] as const),
] as const;

/** Operations of one workload with one configuration. */
export interface NotedOperations extends Pick<ExplainedOperation, (typeof OF_OPERATION)[number]> {
  readonly count: number;
  /** The first ones. */
  readonly locations: readonly string[];
}

export interface ModuleNote {
  /** SHA-256 of the module. */
  readonly identity: string;
  /** ISO 8601 UTC. */
  readonly builtAt: string;
  /** As on the command line, and the folder of the build. */
  readonly input: string;
  readonly folder: string;
  /** Keys of the build's target, device and compiler. */
  readonly target: string;
  readonly device: string;
  readonly compiler: string;
  /** Number of operations in other forms, by form. */
  readonly forms: Readonly<Record<string, number>>;
  /** Operations with configurations. */
  readonly operations: readonly NotedOperations[];
  /** Number of the other operations. */
  readonly untuned: number;
}

/** A later version of this program reads the notes of this one. */
export const moduleNotes = memoryOf(
  MODULES,
  hasFields<ModuleNote>({
    ...{ identity: isText, builtAt: isText, input: isText, folder: isText },
    ...{ target: isText, device: isText, compiler: isText, forms: isObject, untuned: isNumber },
    operations: listOf(
      (one) => isObject(one) && isText(one['workload']) && isConfiguration(one['configuration']),
    ),
  }),
  { outlivesBuild: true },
);

/** The operations with configurations, each configuration of a workload once. */
export function notedOperations(operations: readonly ExplainedOperation[]): NotedOperations[] {
  const tuned = operations.filter(isTuned);
  const groups = Map.groupBy(tuned, ({ workload, target, configuration, record }) =>
    JSON.stringify([workload, target, configurationText(configuration), record?.digest]),
  );
  return [...groups.values()].map((own) => {
    const locations = own.slice(0, MOST_PLACES).map(({ location }) => location);
    return { ...pick(own[0]!, OF_OPERATION), count: own.length, locations };
  });
}

/** Keeps a note, and removes the oldest ones beyond the limit. Never throws. */
export function keepModuleNote(cacheDirectory: string, note: ModuleNote): void {
  moduleNotes.remember(cacheDirectory, note);
  try {
    const files = filesAt(cacheDirectory, MODULES).map((path) => {
      const { size, mtimeMs } = statSync(path);
      return { path, bytes: size, usedMs: mtimeMs };
    });
    removeOldest(files, LARGEST_BYTES);
  } catch {
    // Another build removes the same files.
  }
}

const isTuned = (
  operation: ExplainedOperation,
): operation is ExplainedOperation & { readonly configuration: Configuration } =>
  operation.configuration !== null && operation.configuration.kind !== 'default';
