import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { Screener } from '../../src/tuning/screen.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';

const tiles = (n: number): TileConfiguration => ({
  version: 1,
  kind: 'tile',
  distribution: [8, n, 0],
  vectorCommonParallel: [4, 8, 0],
  vectorReduction: [0, 0, 1],
  peeling: true,
});

test('a candidate that crashes is not run again in the second placement', async () => {
  const folder = temporaryDirectory();
  const crashes = join(folder, 'crashes');
  const tools = fakeTools(folder, {
    benchmarkModule: `case "$*" in
      *--benchmark_filter=*c2*) echo x >>'${crashes}'; exit 1 ;;
      *--benchmark_filter=*) ;;
      *) echo x >>'${crashes}'; exit 1 ;;
    esac`,
  });
  const screener = new Screener(tools, matmul(64, 64, 64));
  const configurations = [8, 16, 24, 32, 40, 48, 56, 64].map(tiles);
  const { results } = await (await screener.prepare(configurations, 60)).time(60);
  expect(results.map(({ outcome }) => outcome)).toEqual(
    configurations.map((_, i) => (i === 2 ? 'run-error' : 'measured')),
  );
  // Once with all others, and once alone to find the culprit.
  expect(readFileSync(crashes, 'utf8')).toBe('x\nx\n');
});
