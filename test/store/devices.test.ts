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
  test('are listed with what is known of them, also where there are only misses', () => {
    expect(known().store.devices()).toEqual([
      { key: 'another device', form: { threads: 2 }, name: null },
      { key: SUBJECT.device, form: SUBJECT.deviceForm, name: null },
    ]);
  });
  test('whose description is damaged are left out', () => {
    const { path, store } = known();
    alter(path, `UPDATE device SET form = '{', own = '{' WHERE key = 'another device'`);
    expect(names(store)).toEqual([[SUBJECT.device, null]]);
  });
});

describe('a name', () => {
  test('is given to a device, also to one that nothing is known of', () => {
    const { store } = known();
    store.nameDevice('prod', { key: 'new device', form: { threads: 4 } });
    expect(names(store)).toEqual([
      ['another device', null],
      [SUBJECT.device, null],
      ['new device', 'prod'],
    ]);
  });
  test('replaces the one that the device had, and leaves the device that had it', () => {
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
  test('that somebody has written around that is none', () => {
    const { path, store } = known();
    alter(path, `INSERT INTO device_name (device, name) SELECT id, 'a ' || char(27) FROM device LIMIT 1`);
    expect(names(store).map(([, own]) => own)).toEqual([null, null]);
  });
});
