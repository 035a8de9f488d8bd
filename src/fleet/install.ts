// The queue's tables: made and brought up to date by who administers the server, so that workers need not create anything.
import { UserError } from '../system/user-error.ts';
import { GRANTS, OWNER_OF, QUEUE_SCHEMA } from '../team/roles.ts';
import { openBoss } from './boss.ts';
import type { QueueDatabase } from './database.ts';
import { DEAD } from './queue.ts';

/** The advisory lock of who makes it: "IREt" in ASCII, and a number for the deed. */
const LOCK = '1230128500, 2';

/** Dead jobs stay for so long. */
const DEAD_SECONDS = 90 * 24 * 3600;

/**
 * As often as one likes. It belongs to the administrators where there is that role, else to whoever does it first.
 * @throws UserError
 */
export async function installQueue(database: QueueDatabase): Promise<void> {
  const value = async (text: string) => (await database.rows(`SELECT (${text}) AS value`))[0]?.['value'];
  await database.rows(`SELECT pg_advisory_lock(${LOCK})`);
  try {
    const owner = String(await value(OWNER_OF(QUEUE_SCHEMA)));
    if ((await value(`to_regnamespace('${QUEUE_SCHEMA}') IS NULL`)) === true) {
      if ((await value(`has_database_privilege(current_database(), 'CREATE')`)) !== true)
        throw new UserError(
          'this login may not make the schema of the queue: a superuser runs iree-tuned team roles --apply once more',
        );
      await database.rows(`CREATE SCHEMA ${QUEUE_SCHEMA} AUTHORIZATION ${owner}`);
    }
    await database.rows(`SET ROLE ${owner}`);
    const boss = await openBoss(database, true);
    try {
      await boss.createQueue(DEAD, { retentionSeconds: DEAD_SECONDS });
    } finally {
      await boss.stop({ graceful: false });
    }
    await database.rows(GRANTS);
  } finally {
    await database.rows('RESET ROLE').catch(() => undefined);
    await database.rows(`SELECT pg_advisory_unlock(${LOCK})`).catch(() => undefined);
  }
}
