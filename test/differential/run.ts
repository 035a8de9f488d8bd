// All files in all shapes and modes, several at a time.
import { join } from 'node:path';
import { compareFile, type Compilers } from './comparison.ts';
import type { Mode } from './modes.ts';
import { Report } from './report.ts';
import type { Shape } from './shapes.ts';

export interface Plan {
  readonly files: readonly string[];
  readonly shapes: readonly Shape[];
  readonly modes: readonly Mode[];
  readonly jobs: number;
  /** Parent of the jobs' folders. */
  readonly folder: string;
}

/**
 * Compares everything. An impossible comparison is in the report, and the others go on.
 * @param onFile called after each file with the report so far
 */
export async function compareAll(
  { files, shapes, modes, jobs, folder }: Plan,
  compilers: Compilers,
  onFile: (report: Report) => void = () => undefined,
): Promise<Report> {
  const report = new Report();
  let next = 0;
  const work = async (_: unknown, job: number): Promise<void> => {
    while (next < files.length) {
      const file = files[next++]!;
      for (const shape of shapes) {
        try {
          report.add(await compareFile(file, shape, modes, compilers, join(folder, `job${job}`)));
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          report.add({ file, shape: shape.name, reason, excused: false });
        }
      }
      report.files++;
      onFile(report);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return report;
}
