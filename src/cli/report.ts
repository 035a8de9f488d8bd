// `iree-tuned report`
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageDataOf } from '../report/html/model.ts';
import { pageText, type PageAssets } from '../report/html/page.ts';
import { factsOf } from '../report/html/sections.ts';
import { knownRates, ratesPlaceAt } from '../running/known-rates.ts';
import { notedLosses } from '../running/program-times.ts';
import { fits } from '../store/filter.ts';
import type { RecordKey } from '../store/store.ts';
import { packageRoot, packageVersion } from '../system/package-root.ts';
import { counted } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import { CliCommand } from './command.ts';
import { openToRead } from './database.ts';
import { contains, filterText } from './db/records.ts';
import { writeWhole } from '../system/user-files.ts';

interface Options {
  readonly output: string;
}

export const report = new CliCommand(
  'report',
  'write an HTML page about the database: gains, rooflines, lost time and records',
)
  .argument('[text]', 'only records whose workload, target or device contains the text')
  .filters()
  .output('path of the page', 'report.html')
  .json('print the path and the content as JSON')
  .examples(['iree-tuned report -o report.html', 'a page about the whole database'])
  .action(writeReport);

async function writeReport(
  text: string | undefined,
  { output }: Options,
  command: CliCommand,
): Promise<void> {
  const surroundings = command.surroundings();
  const { filter } = command;
  const isMeant = (key: RecordKey) => fits(key, filter) && contains(key, text);
  const assets = readAssets();
  using store = await openToRead(surroundings);
  const devices = store.devices();
  const ratesOf = (place: Omit<RecordKey, 'workload'>) => knownRates(ratesPlaceAt(place, devices), store);
  const losses = notedLosses(store).filter((one) => isMeant({ ...one, workload: one.name }));
  const records = store.allRecords().filter(isMeant);
  const chosen = filterText(filter, text);
  if (chosen !== '' && records.length === 0)
    throw new UserError(`no records${chosen}: ${output} is not written`);
  const data = pageDataOf({
    ...{ records, devices, ratesOf, losses },
    workOf: (key: RecordKey) => store.subject(key)?.workloadForm,
    about: {
      database: surroundings.settings.database,
      written: new Date().toISOString(),
      tool: packageVersion(),
      filter: chosen,
    },
  });
  const page = pageText(data, assets);
  writeWhole(output, page);
  const bytes = Buffer.byteLength(page);
  const facts = factsOf(data);
  command.print(
    { file: output, bytes, ...facts },
    () =>
      `${output}: ${counted(facts.records, 'record')}, ${Math.ceil(bytes / 1024)} KB; open it in a browser`,
  );
}

/** The script and style of the page, from the latest build. */
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
