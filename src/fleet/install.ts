// Creates and migrates the queue's tables. Their owner runs this; workers need no right to create anything.
import { UserError } from '../system/user-error.ts';
import { openBoss, QUEUE_SCHEMA } from './boss.ts';
import type { QueueDatabase } from './database.ts';
import { KEPT_SECONDS, PAUSED, RUNS } from './queue.ts';

/** Advisory lock of the installation: "IREt" in ASCII, and a number for the purpose. */
const LOCK = '1230128500, 2';

/**
 * Creates or migrates the queue; a second call changes nothing. The login owns it.
 * @throws UserError if the login may not create the schema
 */
export async function installQueue(database: QueueDatabase): Promise<void> {
  const isTrue = async (text: string) =>
    (await database.rows(`SELECT (${text}) AS value`))[0]?.['value'] === true;
  await database.rows(`SELECT pg_advisory_lock(${LOCK})`);
  try {
    if (await isTrue(`to_regnamespace('${QUEUE_SCHEMA}') IS NULL`)) {
      if (!(await isTrue(`has_database_privilege(current_database(), 'CREATE')`)))
        throw new UserError('this login may not create the schema of the queue: use the login of its owner');
      await database.rows(`CREATE SCHEMA ${QUEUE_SCHEMA}`);
    }
    const boss = await openBoss(database, true);
    try {
      await boss.createQueue(RUNS, { retentionSeconds: KEPT_SECONDS, deleteAfterSeconds: KEPT_SECONDS });
      // Nobody supervises this queue, so a pause does not expire.
      await boss.createQueue(PAUSED, { policy: 'exclusive' });
    } finally {
      await boss.stop({ graceful: false });
    }
  } finally {
    await database.rows(`SELECT pg_advisory_unlock(${LOCK})`).catch(() => undefined);
  }
}
