// `npm run make:pictures`: writes the pictures of README and docs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gainsPicture } from './gains.ts';
import { pipelinePicture } from './pipeline.ts';
import { runOf } from './results.ts';

export const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures');

/** By name of the file. */
export const PICTURES: Readonly<Record<string, () => string>> = {
  'pipeline.svg': pipelinePicture,
  'gains.svg': () => gainsPicture(runOf('light')),
};

if (import.meta.main) {
  for (const [name, make] of Object.entries(PICTURES)) writeFileSync(join(FOLDER, name), make());
  const { writeReportPicture } = await import('./report-picture.ts');
  await writeReportPicture(join(FOLDER, 'report.png'));
}
