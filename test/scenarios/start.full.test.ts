// The demonstration of `npm start` changes none of the user's files.
// In full after a change of scripts/start.ts.
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { root } from '../support/real-tools.ts';
import { statistics } from './faults/support.ts';
import { Workplace } from './support.ts';

describe('the demonstration counts its compiles', () => {
  let place: Workplace;
  /** An environment without a database or a cache folder. */
  let unset: Record<string, string | undefined>;
  beforeEach(() => {
    place = new Workplace({ IREE_TUNED_BUDGET: '0' });
    // A separate checkout.
    mkdirSync(place.path('scripts'));
    copyFileSync(join(root, 'scripts/start.ts'), place.path('scripts/start.ts'));
    for (const name of ['bench', 'bin', 'dist', 'examples', 'node_modules', 'package.json', 'src'])
      symlinkSync(join(root, name), place.path(name));
    const { compiler } = place.watchedTools();
    // No tool runs, so that the demonstration ends with the first example.
    writeFileSync(place.path('watched/iree/_runtime_libs/iree-run-module'), '#!/bin/sh\nexit 1\n');
    unset = {
      IREE_TUNED_COMPILER: compiler,
      IREE_TUNED_DB: undefined,
      IREE_TUNED_CACHE: undefined,
      XDG_CACHE_HOME: place.path('cache-home'),
    };
  });

  const start = async (settings: Readonly<Record<string, string>>) => {
    const env = { ...unset, ...settings };
    const { stderr } = await place.run(process.execPath, ['--conditions=source', 'scripts/start.ts'], {
      env,
    });
    expect(stderr).toMatch(/mlp: stock cannot be run/);
  };
  const compiles = async (settings: Readonly<Record<string, string>>) =>
    (await statistics(place, [], { ...unset, ...settings })).compiles.all;

  test("beside its records, and not in the user's statistics", async () => {
    const cache = { IREE_TUNED_CACHE: place.path('cache') };
    await start(cache);
    expect(await compiles({})).toBe(0);
    expect(await compiles(cache)).toBe(0);
    const own = {
      IREE_TUNED_DB: place.path('.cache/start/tuning.db'),
      IREE_TUNED_CACHE: place.path('.cache/start/cache'),
    };
    expect(await compiles(own)).toBe(1);
  });

  test("in the user's statistics if its records go to the user's database", async () => {
    const database = { IREE_TUNED_DB: place.database };
    await start(database);
    expect(await compiles(database)).toBe(1);
  });
});
