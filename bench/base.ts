// The size of a team's base, and the time until a fresh machine has it; a year of a team on paper.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readHeadText } from '../src/base/head.ts';
import { publish } from '../src/base/publish.ts';
import { refresh } from '../src/base/refresh.ts';
import { median } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import { readValue } from '../src/store/exchange/read.ts';
import { openExchange } from '../src/store/sqlite/exchange.ts';
import {
  jsonFile,
  readArguments,
  refusePositionals,
  run,
  say,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import { claimOf, FORM, PLACE, timed, workloadOf } from './shared/made-up.ts';
import { aboutRun, temporaryFolder } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:base -- [--records N] [--rounds N] [--json FILE]

  --records  records of one target and compiler (default 7300, a year of a team)
  --rounds   fresh machines that get the base (default 5)
  --json     also write all values to FILE`;

/** The team of the estimate. */
const DEVELOPERS = 1000;
const RUNNERS = 300;
/** Questions for the head: of a developer, one each ten minutes of a working day and eight hours of builds that nobody watches. */
const QUESTIONS_A_DAY = 93;
/** Bytes of an answer that nothing has changed, with its TLS record. */
const UNCHANGED_BYTES = 300;
/** Fresh containers of a runner. */
const JOBS_A_DAY = 20;

function fill(path: string, records: number): void {
  const exchange = openExchange(path);
  const parts = [
    { type: 'target', version: 1, key: PLACE.target, form: FORM },
    { type: 'device', version: 1, key: PLACE.device, form: FORM },
    { type: 'compiler', version: 1, key: PLACE.compiler, form: FORM },
  ];
  exchange.receive(parts.map((part) => readValue(part)));
  for (let from = 0; from < records; from += 1000) {
    const lines = Array.from({ length: Math.min(1000, records - from) }, (_, i) => {
      const claim = claimOf(from + i);
      return [
        { type: 'workload', version: 1, key: claim.workload, form: workloadOf(from + i) },
        { type: 'claim', version: 1, ...claim },
      ];
    });
    exchange.receive(lines.flat().map((line) => readValue(line)));
  }
  exchange.close();
}

await run('base', async () => {
  const given = readArguments(['records', 'rounds', 'json'], USAGE);
  refusePositionals(given);
  const records = wholeNumber(given, 'records', 7300);
  const rounds = wholeNumber(given, 'rounds', 5);
  const json = jsonFile(given);
  const folder = temporaryFolder();
  const database = join(folder, 'tuning.db');
  fill(database, records);
  const base = join(folder, 'base');
  const publishSeconds =
    (await timed(() => publish({ folder: base, cacheDirectory: folder, files: [database] }))) / 1000;
  const [published] = readHeadText(readFileSync(join(base, 'head.json'), 'utf8'), undefined).databases;
  say(`published ${published!.claims} records`);
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const cacheDirectory = join(folder, `cache-${round}`);
    const address = { kind: 'folder', path: base } as const;
    const places = [{ target: PLACE.target, compiler: PLACE.compiler }];
    seconds.push((await timed(() => refresh({ address, cacheDirectory, places }))) / 1000);
  }
  const { bytes, size } = published!;
  const questions = DEVELOPERS * QUESTIONS_A_DAY;
  const nightly = DEVELOPERS * bytes;
  const fresh = RUNNERS * JOBS_A_DAY * (bytes + statSync(join(base, 'head.json')).size);
  const mega = (value: number) => `${(value / 1e6).toFixed(1)} MB`;
  const rows = [
    ['records', String(records)],
    ['bytes of the file, and of its lines', `${mega(bytes)}, ${mega(size)}`],
    ['seconds to publish', publishSeconds.toFixed(2)],
    ['seconds until a fresh machine has it', median(seconds).toFixed(2)],
    [
      'a day: questions of 1,000 developers, and their bytes',
      `${questions}, ${mega(questions * UNCHANGED_BYTES)}`,
    ],
    ['a day: a nightly publication at 1,000 developers', mega(nightly)],
    ['a day: 6,000 fresh containers of 300 runners', mega(fresh)],
    ['a year of all', `${((365 * (questions * UNCHANGED_BYTES + nightly + fresh)) / 1e12).toFixed(2)} TB`],
  ];
  console.log(table(['what', 'value'], rows));
  writeJson(json, { ...aboutRun('base', 'local-task', {}), records, bytes, size, publishSeconds, seconds });
});
