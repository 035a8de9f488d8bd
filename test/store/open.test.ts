import { expect, it } from 'vitest';
import { StoreError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/open.ts';

it.each(['postgres://user:secret@host/tuning', 'postgresql://user:secret@host/tuning'])(
  'says that %s is not supported yet, without its password',
  async (location) => {
    const error: unknown = await openStore(location).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect((error as StoreError).message).toContain('set IREE_TUNED_DB to a SQLite file');
    expect((error as StoreError).message).not.toContain('secret');
  },
);
