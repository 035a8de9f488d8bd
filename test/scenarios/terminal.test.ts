// The output of builds at a terminal, and its absence elsewhere.
// In full after a change of src/report/terminal.ts, src/report/progress.ts.
import { describe, expect, test } from 'vitest';
import { INTRODUCTION } from '../../src/report/terminal.ts';
import { columnsOf } from '../../src/report/text.ts';
import { isWithout } from '../support/needs.ts';
import { noTerminals, onTerminal } from '../support/terminal.ts';
import { HOST, matmulModule, oddMatmul, rowsOf, Workplace, WRAPPER } from './support.ts';

const ERASE = '\r\u001b[2K';

/** The lines that a terminal shows in the end: an erased line is gone. */
const linesOf = (text: string): string[] => text.split('\n').map((line) => line.split(ERASE).at(-1)!);

/** All contents of the line that is updated in place. */
const liveLinesOf = (text: string): string[] =>
  text
    .split(ERASE)
    .slice(1)
    .map((after) => after.split('\n')[0]!)
    // Sentences take the place of an erased line.
    .filter((line) => !line.startsWith('iree-compile-tuned: '));

describe.skipIf(isWithout(noTerminals))('at a terminal', () => {
  test(
    'tuning shows one live line, how to turn it off, once, and what was gained',
    { timeout: 240_000, tags: 'full' },
    async () => {
      const place = Workplace.simulated({ TERM: 'xterm' }, { isShort: true });
      const build = (name: string, text: string) => {
        place.write(name, text);
        const { folder: cwd, env } = place;
        return onTerminal(200, [WRAPPER, ...HOST, name, '-o', '-'], { cwd, env }, '>stdout');
      };
      const told = (text: string) => text.includes(INTRODUCTION.slice(0, 40));
      const first = await build('in.mlir', oddMatmul);
      // The live line leaves nothing behind, so there is one line about tuning.
      expect(linesOf(first.text).filter((line) => /tun(?:ed|ing) /.test(line))).toEqual([
        expect.stringMatching(
          /^iree-compile-tuned: tuned 1 of 1 operation in .*\. iree-tuned explain shows each$/,
        ),
      ]);
      expect(liveLinesOf(first.text)).toContainEqual(
        expect.stringMatching(
          /^\d+ s left: (?:tuning|confirming) 61x67x71: [\d.]+ GFLOP\/s, best trial \d+\.\d\dx the default$/,
        ),
      );
      expect(told(first.text)).toBe(true);
      expect(place.read('stdout').toString()).not.toContain('iree-compile-tuned');
      const second = await build('other.mlir', matmulModule(16, 32, 64));
      expect(second.text).toMatch(/tuned 1 of 1 operation/);
      expect(told(second.text)).toBe(false);
      const hit = await build('in.mlir', oddMatmul);
      expect(hit.text).not.toContain('iree-compile-tuned');

      expect(await place.said(['explain', 'in.mlir'])).toMatch(
        /^in\.mlir:2:13 {2}linalg\.matmul\n {3}2 \| {3}%result = linalg\.matmul .*\n {5}\| {13}\^~{12}$/m,
      );
    },
  );
});

describe.skipIf(isWithout(noTerminals))('a terminal', () => {
  const build = async (columns: number, more: Readonly<Record<string, string>>) => {
    const place = Workplace.simulated({ TERM: 'xterm', ...more }, { isShort: true });
    place.write('in.mlir', oddMatmul);
    const { folder: cwd, env } = place;
    const argv = [WRAPPER, ...HOST, 'in.mlir', '-o', 'out.vmfb'];
    return (await onTerminal(columns, argv, { cwd, env })).text;
  };

  test('of 40 columns keeps the live line in its row', { timeout: 240_000, tags: 'full' }, async () => {
    const text = await build(40, { NO_COLOR: '1' });
    const live = liveLinesOf(text);
    expect(live.some((line) => /^\d+ s left: \w+ 61x67x71/.test(line))).toBe(true);
    for (const line of live) expect(columnsOf(line)).toBeLessThanOrEqual(40);
    // No colours, and nothing but the erased line.
    expect(text.replaceAll(ERASE, '')).not.toContain('\u001b');
  });

  test('a log that cannot be written is named once', async () => {
    const place = new Workplace({ TERM: 'xterm', IREE_TUNED_LOG: 'no/log', IREE_TUNED_BUDGET: '0' });
    place.write('in.mlir', oddMatmul);
    const argv = [WRAPPER, ...HOST, 'in.mlir', '-o', 'out.vmfb'];
    const { code, text } = await onTerminal(200, argv, { cwd: place.folder, env: place.env });
    expect(code).toBe(0);
    expect(text.match(/the log cannot be written: ENOENT/g)).toHaveLength(1);
  });

  test('that cannot move its cursor gets whole lines alone', { timeout: 240_000, tags: 'full' }, async () => {
    const text = await build(80, { TERM: 'dumb' });
    for (const control of ['\u001b', '\r']) expect(text).not.toContain(control);
    expect(text).toMatch(/^iree-compile-tuned: tuning 1 operation for .* at most$/m);
    expect(text).toMatch(/^iree-compile-tuned: tuned 1 of 1 operation /m);
    expect(text).not.toContain(' left');
  });
});

test.skipIf(isWithout(noTerminals))(
  'a terminal shows once why nothing is measured, and a pipe never',
  async () => {
    const place = new Workplace({ IREE_TUNED_DEVICE: 'vulkan' });
    place.write('in.mlir', oddMatmul);
    const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
    const piped = await place.compile(argv);
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    const build = async (more: Readonly<Record<string, string>> = {}) => {
      // Without a replay of the build before.
      place.remove('cache/replays');
      const env = { ...place.env, ...more };
      return (await onTerminal(200, [WRAPPER, ...argv], { cwd: place.folder, env })).text;
    };
    const why = (device: string) =>
      `iree-compile-tuned: llvm-cpu is not tuned here: device ${device} runs no code for llvm-cpu: set device to ` +
      'local-task or local-sync. iree-tuned db import or the setting team brings records of other machines (said once)';
    expect(await build({ IREE_TUNED_BUDGET: '0' })).toBe('');
    const said = async (more?: Readonly<Record<string, string>>) =>
      linesOf(await build(more))
        .join(' ')
        .replaceAll(/\s+/g, ' ')
        .trim();
    expect([await said(), await said()]).toEqual([why('vulkan'), '']);
    expect(await said({ IREE_TUNED_DEVICE: 'cuda' })).toBe(why('cuda'));
  },
);

test('a pipe gets none of it', { timeout: 240_000, tags: 'full' }, async () => {
  const place = Workplace.simulated({}, { isShort: true });
  place.write('in.mlir', oddMatmul);
  const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
  const { stdout, stderr } = await place.compile(argv, { env: { FORCE_COLOR: '1' } });
  expect(rowsOf(place, 'claim')).toBe(1);
  expect(stdout.toString() + stderr).not.toContain('iree-compile-tuned');
  expect(place.has('cache/introduced')).toBe(false);
});
