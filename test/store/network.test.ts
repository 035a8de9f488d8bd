// A database on a network disk is read and never written. The disk is simulated.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { StoreError } from '../../src/store/errors.ts';
import { openAsFarAsPossible, openStore } from '../../src/store/open.ts';
import { failure, open, recorded, SUBJECT, temporaryPath } from './support.ts';

const networkAt = () => 'NFS';

test('is refused for writing with the way out, and no file is created', () => {
  const path = temporaryPath();
  const { message } = failure('network', path, () => open(path, { networkAt }));
  expect(message).toContain('a network disk (NFS)');
  expect(message).toMatch(/IREE_TUNED_DB.*IREE_TUNED_TEAM.*export and import/);
  expect(existsSync(path)).toBe(false);
});

test('is read', async () => {
  const path = recorded();
  const before = readFileSync(path);
  const store = open(path, { networkAt, readonly: true });
  expect(store.allRecords()).toHaveLength(1);
  expect(() => {
    store.noteMiss(SUBJECT);
  }).toThrow(StoreError);
  const { store: second, whyReadonly } = await openAsFarAsPossible(path, { networkAt });
  expect(whyReadonly).toContain('NFS');
  expect(second.allRecords()).toHaveLength(1);
  second.close();
  expect(readFileSync(path).equals(before)).toBe(true);
  expect([`${path}-wal`, `${path}-shm`].filter((name) => existsSync(name))).toEqual([]);
});

test('that does not exist is refused because of its folder', async () => {
  const path = temporaryPath();
  await expect(openAsFarAsPossible(path, { networkAt })).rejects.toMatchObject({ kind: 'network' });
});

test('is detected only for writing', () => {
  const path = recorded();
  const never = () => {
    throw new Error('nobody needs to know');
  };
  expect(open(path, { networkAt: never, readonly: true }).allRecords()).toHaveLength(1);
});

test('a database on a local disk is written', async () => {
  const { store, whyReadonly } = await openAsFarAsPossible(recorded());
  expect(whyReadonly).toBeNull();
  store.noteMiss(SUBJECT);
  store.close();
  const again = await openStore(temporaryPath());
  again.noteMiss(SUBJECT);
  again.close();
});
