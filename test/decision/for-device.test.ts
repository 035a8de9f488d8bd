// Devices by name, key or class.
import { expect, test } from 'vitest';
import { deviceClass, type Device } from '../../src/backend/device.ts';
import { devicesLike, siteFor, UnknownDeviceError } from '../../src/decision/for-device.ts';
import type { KnownDevice } from '../../src/store/store.ts';
import { siteOf } from '../support/inspected.ts';
import { because } from '../../src/system/reason.ts';

const device = (model: number): Device => ({
  model: `CPU ${model}`,
  driver: 'local-task',
  threads: 8,
  cachesKiB: [],
  processor: { architecture: 'arm64', vendor: '0x41', family: 8, model, threadsPerCore: 1, caches: [] },
});
const known: readonly KnownDevice[] = [
  { key: 'CPU 1', form: device(1), name: 'edge' },
  { key: 'CPU 2', form: device(2), name: null },
  { key: 'CPU 3', form: { of: 'another version' }, name: 'odd' },
];
const store = { devices: () => [...known] };
const here = siteOf();
const siteAt = (asked: string, site = here) => siteFor(site, asked, store);

test.each([
  ['a name', 'edge', 1],
  ['a key', 'CPU 2', 2],
  ['a class', deviceClass(device(2))!, 2],
])('%s selects a device, and nothing is measured', (_, asked, model) => {
  expect(siteAt(asked)).toEqual({
    ...here,
    device: device(model),
    deviceKey: `CPU ${model}`,
    forDevice: asked,
    whyNotHere: because('other-device', `it is for ${asked}, for which nothing is measured here`),
  });
});

test('this machine or its class changes nothing', () => {
  const own = siteOf({ device: device(1), deviceKey: 'CPU 1' });
  for (const asked of ['edge', 'CPU 1', deviceClass(device(1))!]) expect(siteAt(asked, own)).toBe(own);
  // The database need not know the device.
  const fresh = siteOf({ device: device(4), deviceKey: 'CPU 4' });
  for (const asked of ['CPU 4', deviceClass(device(4))!]) expect(siteAt(asked, fresh)).toBe(fresh);
});

test.each([
  ['nobody has given', 'edgy'],
  ['is a part of a key', 'CPU'],
  ['leads to a device whose description cannot be read', 'odd'],
])('a name that %s is refused with a list of names', (_, asked) => {
  expect(() => siteAt(asked)).toThrow(UnknownDeviceError);
  expect(() => siteAt(asked)).toThrow(
    `for-device=${asked} is no device of the tuning database; it knows edge, odd: iree-tuned device ls lists them`,
  );
});

test('the message lists keys without names, and not a thousand', () => {
  const unnamed = (count: number) => ({
    devices: () =>
      Array.from({ length: count }, (_, i) => ({ key: `CPU ${i}`, form: device(i), name: null })),
  });
  expect(() => siteFor(here, 'x', unnamed(0))).toThrow('it knows none:');
  expect(() => siteFor(here, 'x', unnamed(1000))).toThrow(/it knows "CPU 0", .*"CPU 5", and 994 more:/);
});

test('a part of a key finds devices', () => {
  const keys = (text: string) => devicesLike(text, known).map(({ key }) => key);
  expect(keys('CPU')).toEqual(['CPU 1', 'CPU 2', 'CPU 3']);
  expect(keys('edge')).toEqual(['CPU 1']);
  expect(keys('CPU 3')).toEqual(['CPU 3']);
  expect(keys(deviceClass(device(2))!)).toEqual(['CPU 2']);
  expect(keys('nothing')).toEqual([]);
});
