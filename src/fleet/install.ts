// Creates and migrates the queue's tables. An administrator runs this, so workers need no right to create anything.
import { UserError } from '../system/user-error.ts';
import { GRANTS, OWNER_OF, QUEUE_SCHEMA } from '../team/roles.ts';
import { openBoss } from './boss.ts';
import type { QueueDatabase } from './database.ts';
import { DEAD } from './queue.ts';

/** Advisory lock of the installation: "IREt" in ASCII, and a number for the purpose. */
const LOCK = '1230128500, 2';

/** How long dead jobs stay. */
const DEAD_SECONDS = 90 * 24 * 3600;

/**
 * Creates or migrates the queue; a second call changes nothing. The owner is the administrators' role, or without it the login.
 * @throws UserError if the login may not create the schema
 */
export async function installQueue(database: QueueDatabase): Promise<void> {
  const value = async (text: string) => (await database.rows(`SELECT (${text}) AS value`))[0]?.['value'];
  await database.rows(`SELECT pg_advisory_lock(${LOCK})`);
  try {
    const owner = String(await value(OWNER_OF(QUEUE_SCHEMA)));
    if ((await value(`to_regnamespace('${QUEUE_SCHEMA}') IS NULL`)) === true) {
      if ((await value(`has_database_privilege(current_database(), 'CREATE')`)) !== true)
        throw new UserError(
          'this login may not create the schema of the queue: a superuser must run iree-tuned team roles --apply again',
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
