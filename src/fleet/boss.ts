// The library that keeps the queue, set up once: loaded by commands of the fleet only. Whoever works supervises.
import type { PgBoss } from 'pg-boss';
import { UserError } from '../system/user-error.ts';
import { QUEUE_SCHEMA } from '../team/roles.ts';
import type { QueueDatabase } from './database.ts';

/**
 * A worker that is silent for so long is gone. With the pauses below, the pause before the first retry and that between two
 * looks at the queue this is less than half a minute until somebody else takes its job up.
 */
export const HEARTBEAT_SECONDS = 12;

/** How often somebody looks for jobs of workers that are gone, at most. */
export const SUPERVISION_SECONDS = 3;

/** The first pause before a retry is once to twice as long, and each one twice the one before. */
export const RETRY_SECONDS = 2;

/** @param creates whether tables are made or brought up to date, which takes their owner */
export async function openBoss(database: QueueDatabase, creates = false): Promise<PgBoss> {
  const { PgBoss: Boss } = await import('pg-boss');
  const boss = new Boss({
    db: database,
    schema: QUEUE_SCHEMA,
    migrate: creates,
    createSchema: false,
    supervise: false,
    schedule: false,
    reindex: false,
    monitorVacuum: false,
    monitorIntervalSeconds: SUPERVISION_SECONDS,
  });
  // What it does on its own are reads, which it repeats.
  boss.on('error', () => undefined);
  try {
    await boss.start();
  } catch (error) {
    await boss.stop({ graceful: false });
    if (error instanceof Error && /^pg-boss /.test(error.message))
      throw new UserError(
        "the team's server has no queue, or one of another version: its administrator runs iree-tuned team migrate",
      );
    throw error;
  }
  return boss;
}
