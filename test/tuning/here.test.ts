import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { measuringAlone } from '../../src/tuning/here.ts';
import { siteOf, surroundingsOf } from '../support/inspected.ts';

test('a cache folder without a place for work folders keeps a search from measuring', async () => {
  const { cacheDirectory, ...surroundings } = surroundingsOf();
  mkdirSync(cacheDirectory, { recursive: true });
  writeFileSync(join(cacheDirectory, 'work'), 'not a folder');
  const measuring = { ...surroundings, cacheDirectory, device: siteOf().device };
  const action = vi.fn<() => Promise<null>>();
  const why = await measuringAlone(measuring, 1, new AbortController().signal, action);
  expect(why?.code).toBe('cache-unwritable');
  expect(action).not.toHaveBeenCalled();
});
