import { afterEach, expect, test, vi } from 'vitest';
import { search } from '../../src/cli/search.ts';
import { unfinishedLines } from '../../src/cli/tune/program.ts';
import { because } from '../../src/system/reason.ts';
import { tuneWorkloads } from '../../src/tuning/tune-workloads.ts';

vi.mock('../../src/tuning/tune-workloads.ts', async (original) => ({
  ...(await original<object>()),
  tuneWorkloads: vi.fn(),
}));
vi.mock('../../src/compiler/find.ts', async (original) => ({
  ...(await original<object>()),
  findMeasuringTools: () => null,
}));

afterEach(() => {
  vi.restoreAllMocks();
});

test('the first Ctrl-C says that the search stops', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const outcome = { results: new Map(), undecided: new Map(), whyNot: because('interrupted') };
  vi.mocked(tuneWorkloads).mockImplementation((...[, , , , , { finishEarly }]) => {
    process.emit('SIGINT');
    expect(finishEarly?.aborted).toBe(true);
    return Promise.resolve(outcome);
  });
  type Given = Parameters<typeof search>;
  const measured = { command: {}, site: {}, waitedSeconds: 0 } as Given[2];
  const surroundings = { env: {}, settings: { budgetSeconds: 60 } } as Given[3];
  await search([], {} as Given[1], measured, surroundings, { strategy: 'guided' }, new Set());
  const said = write.mock.calls.map(([text]) => text).join('');
  expect(said.replace(/\s+/g, ' ')).toMatch(/stopping: .* press Ctrl-C again to end at once/);
});

test('the table of a program names unfinished searches', () => {
  const unfinished = because('search-unfinished');
  expect(unfinishedLines([unfinished, because('faster')])).toEqual([
    'The search for 1 operation is not finished: run the same command again.',
  ]);
  expect(unfinishedLines([because('default-best')])).toEqual([]);
});
