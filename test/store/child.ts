// Another process in tests of concurrency: `node --conditions=source child.ts DEED DATABASE [PARAMETER]`.
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { StoreError } from '../../src/store/errors.ts';
import { openAsFarAsPossible } from '../../src/store/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { DECISION, subjectOf } from './samples.ts';

const [deed = '', path = '', parameter = ''] = process.argv.slice(2);

/** Waits until the parent has started all children, so that they act at the same moment. */
async function startingSignal(): Promise<void> {
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
}

/** Acts as the user "nobody", because root ignores permissions. Load the driver before. */
function dropPrivileges(): void {
  new Database(':memory:').close();
  if (process.geteuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(65534);
  process.setuid?.(65534);
}

switch (deed) {
  case 'create': {
    await startingSignal();
    using store = openSqliteStore(path, { busyTimeoutMs: 30_000 });
    store.putRecord(subjectOf(Number(parameter)), DECISION);
    break;
  }
  case 'count': {
    await startingSignal();
    using store = openSqliteStore(path, { busyTimeoutMs: 30_000 });
    for (let i = 0; i < Number(parameter); i++) store.noteMiss(subjectOf(1));
    break;
  }
  case 'put-forever': {
    const store = openSqliteStore(path);
    for (let m = 1; ; m++) {
      store.putRecord(subjectOf(m), DECISION);
      // Synchronous, so that the parent reads acknowledged records only.
      process.stdout.write(`${m}\n`);
    }
  }
  case 'hold': {
    const db = new Database(path);
    if (parameter === 'everything') db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; DELETE FROM counter');
    await startingSignal();
    process.stdout.write('releasing soon\n');
    await setTimeout(300);
    db.close();
    break;
  }
  case 'open': {
    dropPrivileges();
    const opened = await openAsFarAsPossible(path).catch((error: unknown) => error as StoreError);
    process.stdout.write(
      opened instanceof StoreError
        ? `${opened.kind} ${opened.message}`
        : `ok ${opened.store.allRecords().length}, ${String(opened.whyReadonly)}`,
    );
    break;
  }
  default:
    throw new Error(`unknown deed ${deed}`);
}
