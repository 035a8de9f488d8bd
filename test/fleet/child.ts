// A worker on a simulated machine: `node --conditions=source child.ts URL MACHINE FOLDER UNTIL_IDLE DRAIN`. Its measurements are
// invented. It notes each one in a file. A file `hold-MACHINE` keeps a measurement going.
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deviceKey } from '../../src/backend/device.ts';
import { endingSignals } from '../../src/cli/team/worker.ts';
import { serverDatabase } from '../../src/fleet/database.ts';
import { queueName } from '../../src/fleet/job.ts';
import { machineLock } from '../../src/fleet/machine.ts';
import { openQueue } from '../../src/fleet/queue.ts';
import { runWorker } from '../../src/fleet/worker.ts';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { openStore } from '../../src/store/open.ts';
import { workloadRank } from '../../src/workload/workload.ts';
import { DECISION, TILE } from '../store/samples.ts';
import { ALONE, PLACE, pretendedDevice } from './support.ts';

const [url = '', machine = '', folder = '', untilIdle = '', drain = ''] = process.argv.slice(2);
/** Workers whose names begin with the same letter are on one machine. */
const own = join(folder, machine);
mkdirSync(own, { recursive: true });
const device = pretendedDevice(machine[0]!);
const env = { IREE_TUNED_MACHINE: `${folder} ${machine[0]!}` };
const path = join(own, 'tuning.db');
const note = (deed: string, workload: string) => {
  appendFileSync(join(folder, 'notes'), `${Date.now()}\t${machine}\t${deed}\t${workload}\n`);
};
const say = (line: string) => {
  note('says', line);
};

const ending = endingSignals(Number(drain), say);
using database = serverDatabase(url, {}, queueName(PLACE));
using store = await openStore(path);
const queue = await openQueue(database, PLACE, machine[0]);
// Each worker has its own cache folder, so only the machine's lock can exclude workers.
const lockHere = { cacheDirectory: join(own, 'cache'), env };
await runWorker({
  ...{ ...ALONE, queue, signals: ending.signals, say },
  machine: machineLock(database, env.IREE_TUNED_MACHINE),
  untilIdle: untilIdle === 'true',
  async doJob(job, signal) {
    if ('program' in job) throw new Error('no programs here');
    const { workload, form, target, compiler } = job;
    // Without the machine's lock two workers of one machine would get here.
    const lock = await acquireMeasuringLock(lockHere, 0);
    if (lock === null) {
      note('met', workload);
      return { outcome: 'busy' };
    }
    note('begins', workload);
    const subject = {
      ...{ workload, target, compiler, device: deviceKey(device), workloadForm: form },
      ...{ targetForm: { cpu: 'pretended' }, deviceForm: device, compilerForm: { version: 'pretended' } },
    };
    const trial = { configuration: TILE, outcome: 'measured', seconds: 1, ratio: 2, message: null } as const;
    store.addTrials(subject, [{ ...trial, strategy: 'pretended' }]);
    do await sleep(100 + 100 * Math.random());
    while (existsSync(join(folder, `hold-${machine}`)) && !signal.aborted);
    note('ends', workload);
    lock.release();
    if (signal.aborted) return { outcome: 'stopped' };
    if (workloadRank(form) !== TILE.distribution.length) throw new Error('no such work here');
    store.putRecord(subject, { ...DECISION, createdAt: new Date().toISOString() });
    return { outcome: 'done', summary: 'pretended' };
  },
});
