// `iree-tuned report`: one page about the database, to look at and to show to others.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command as Program } from 'commander';
import { collectCounts, pendingCounts, sumOf } from '../report/counting.ts';
import { readKernels, readModels } from '../report/html/bench-files.ts';
import { factsOf } from '../report/html/facts.ts';
import { pageDataOf } from '../report/html/model.ts';
import { pageText, type PageAssets } from '../report/html/page.ts';
import { fits } from '../store/filter.ts';
import type { RecordKey } from '../store/store.ts';
import { packageRoot, packageVersion } from '../system/package-root.ts';
import { temporaryName } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import { openToLook, surroundingsOf } from './context.ts';
import { contains, filterOf, inWords } from './filters.ts';

export async function writeReport(
  text: string | undefined,
  options: { output: string; bench?: string; models?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const filter = filterOf(program);
  const isMeant = (key: RecordKey) => fits(key, filter) && contains(key, text);
  const { bench, models, output } = options;
  // What cannot be read is said before anything is.
  const kernelsData = bench === undefined ? null : readKernels(readFileSync(bench, 'utf8'), bench);
  const modelsData = models === undefined ? null : readModels(readFileSync(models, 'utf8'), models);
  const assets = readAssets();
  const { store, isReadonly } = await openToLook(surroundings);
  const { cacheDirectory } = surroundings;
  if (!isReadonly) collectCounts(cacheDirectory, store);
  const stored = store.counters();
  const data = pageDataOf({
    records: store.allRecords().filter(isMeant),
    misses: store.misses().filter(isMeant),
    devices: store.devices(),
    counts: isReadonly ? sumOf([stored, pendingCounts(cacheDirectory)]) : stored,
    subjectOf: (key: RecordKey) => store.subject(key),
    trialsOf: (key: RecordKey) => store.trials(key),
    undecidedOf: (key: RecordKey) => store.findUndecided([key.workload], key)[0] ?? null,
    kernels: kernelsData,
    models: modelsData,
    about: {
      database: surroundings.settings.database,
      written: new Date().toISOString(),
      tool: packageVersion(),
      filter: inWords(filter, text),
    },
  });
  store.close();
  const page = pageText(data, assets);
  writeWhole(output, page);
  const bytes = Buffer.byteLength(page);
  const facts = factsOf(data);
  if (options.json === true) {
    const { kernels, models: programs } = data;
    const shapes = kernels?.shapes.length ?? 0;
    const contents = { ...facts, shapes, programs: programs?.models.length ?? 0 };
    console.log(JSON.stringify({ file: output, bytes, ...contents }, null, 2));
  } else
    console.log(
      `${output}: ${facts.records} records, ${facts.searches} searches, ${Math.ceil(bytes / 1024)} KB; open it in a browser`,
    );
}

/** What the page is drawn by lies beside the bundles; the sources have it where the latest build is. */
function readAssets(): PageAssets {
  const name = 'report-page.json';
  const path = join(packageRoot, 'dist', 'current', name);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PageAssets;
  } catch (error) {
    throw new UserError(
      `${path} is missing or damaged: run \`npm run build\` in ${packageRoot}, or install iree-compile-tuned again`,
      { cause: error },
    );
  }
}

/** All of the page or nothing of it. */
function writeWhole(file: string, page: string): void {
  const path = temporaryName(file);
  try {
    writeFileSync(path, page);
    renameSync(path, file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}
