import { expect, test } from 'vitest';
import { withOtherDevice } from '../../src/cli/by-records.ts';
import { because } from '../../src/system/reason.ts';

test('a decision without a record names the device of another record', () => {
  const [here, there] = [2, 1].map((threads) => `a CPU local-task threads=${threads}`);
  const tunable = { key: 'a matmul' } as Parameters<typeof withOtherDevice>[0]['tunable'];
  const missed = { tunable, ...because('no-record', 'no record') };
  const records = [{ workload: 'a matmul', device: there! }];
  expect(withOtherDevice(missed, records, here!).reason).toBe(
    'no record for threads=2; there is one for threads=1',
  );
  expect(withOtherDevice(missed, records, there!)).toBe(missed);
  const known = { tunable, ...because('faster') };
  expect(withOtherDevice(known, records, here!)).toBe(known);
});
