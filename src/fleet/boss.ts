// Set-up of pg-boss, the library of the queue. Only commands of the fleet load it.
import type { PgBoss } from 'pg-boss';
import { UserError } from '../system/user-error.ts';
import type { ServerDatabase } from './database.ts';

export const QUEUE_SCHEMA = 'iree_tuned_queue';

/** The queue frees the job of a worker without a heartbeat for so long. With the pauses below another worker takes it within 30 s. */
export const HEARTBEAT_SECONDS = 12;

/** Shortest interval between two checks for silent workers. */
export const SUPERVISION_SECONDS = 3;

/** The first pause before a retry is one to two times as long. Each further pause doubles. */
export const RETRY_SECONDS = 2;

/**
 * `await using` stops it.
 * @param creates whether to create or migrate the tables, which only their owner may
 */
export async function openBoss(database: ServerDatabase, creates = false): Promise<PgBoss & AsyncDisposable> {
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
  // Background errors come from reads that it repeats.
  boss.on('error', () => undefined);
  const stop = () => boss.stop({ graceful: false });
  try {
    await boss.start();
  } catch (error) {
    await stop();
    if (error instanceof Error && /^pg-boss /.test(error.message))
      throw new UserError(
        "the fleet's server has no queue, or a queue of another version: run iree-tuned team queue --install with its owner's login",
      );
    throw error;
  }
  return Object.assign(boss, { [Symbol.asyncDispose]: stop });
}
