// Devices and their names.
import { describe, expect, test } from 'vitest';
import { alter, DECISION, failure, open, subjectOf, SUBJECT, temporaryPath } from './support.ts';

const other = subjectOf(512, { device: 'another device', deviceForm: { threads: 2 } });

function known() {
  const path = temporaryPath();
  const store = open(path);
  store.putRecord(SUBJECT, DECISION);
  store.noteMiss(other);
  return { path, store };
}
const names = (store: ReturnType<typeof open>) => store.devices().map(({ key, name }) => [key, name]);

describe('devices', () => {
  test('are listed, even with misses only', () => {
    expect(known().store.devices()).toEqual([
      { key: 'another device', form: { threads: 2 }, name: null },
      { key: SUBJECT.device, form: SUBJECT.deviceForm, name: null },
    ]);
  });
  test('with a damaged description are skipped', () => {
    const { path, store } = known();
    alter(path, `UPDATE device SET form = '{', own = '{' WHERE key = 'another device'`);
    expect(names(store)).toEqual([[SUBJECT.device, null]]);
  });
});

describe('a name', () => {
  test('can be given to any device, even an unknown one', () => {
    const { store } = known();
    store.nameDevice('prod', { key: 'new device', form: { threads: 4 } });
    expect(names(store)).toEqual([
      ['another device', null],
      [SUBJECT.device, null],
      ['new device', 'prod'],
    ]);
  });
  test('replaces the old name of the device, and leaves its old device', () => {
    const { store } = known();
    const [first, second] = store.devices();
    store.nameDevice('prod', first!);
    store.nameDevice('prod.2', first!);
    expect(names(store)).toEqual([
      ['another device', 'prod.2'],
      [SUBJECT.device, null],
    ]);
    store.nameDevice('prod.2', second!);
    expect(names(store)).toEqual([
      ['another device', null],
      [SUBJECT.device, 'prod.2'],
    ]);
  });
  test.each(['', '-x', 'a b', 'a\n', 'é', 'x'.repeat(65), "x' --"])('%j is refused', (name) => {
    const { path, store } = known();
    failure('unwritable', path, () => {
      store.nameDevice(name, { key: 'another device', form: {} });
    });
    expect(names(store).map(([, own]) => own)).toEqual([null, null]);
  });
  test('that is invalid in the file is null', () => {
    const { path, store } = known();
    alter(path, `INSERT INTO device_name (device, name) SELECT id, 'a ' || char(27) FROM device LIMIT 1`);
    expect(names(store).map(([, own]) => own)).toEqual([null, null]);
  });
});
