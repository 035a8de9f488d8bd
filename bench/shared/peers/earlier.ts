// The results of an interrupted run.
import { existsSync, readFileSync } from 'node:fs';
import { jsonFile, UsageError, type Arguments } from '../arguments.ts';
import type { Result } from './measure.ts';

/** Where the results go, and whether those of an earlier run stay. */
export interface Kept {
  readonly json: string | undefined;
  readonly resume: boolean;
}

/** Reads `--json` and `--resume`. @throws UsageError for an invalid file, or none to resume */
export function keptOption(args: Arguments): Kept {
  const json = jsonFile(args);
  const resume = args.switches.has('resume');
  if (resume && json === undefined) throw new UsageError('--resume: it needs --json FILE of the earlier run');
  return { json, resume };
}

/**
 * The results of the earlier run; none if there is no file. Models that could not be prepared then are tried again.
 * @param measured the options that change results
 * @throws UsageError when the file has other options
 */
export function earlierResults({ json, resume }: Kept, measured: object): Result[] {
  if (!resume || json === undefined || !existsSync(json)) return [];
  const { options, results } = JSON.parse(readFileSync(json, 'utf8')) as {
    readonly options: unknown;
    readonly results: readonly Result[];
  };
  const [now, then] = [measured, options].map((one) => JSON.stringify(one));
  if (now !== then) throw new UsageError(`--resume: ${json} was measured with ${then}; now it is ${now}`);
  return results.filter(({ state }) => state !== 'not prepared');
}
