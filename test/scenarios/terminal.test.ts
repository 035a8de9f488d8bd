// What people see who build and look at a terminal, and that nobody else sees it.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { INTRODUCTION } from '../../src/report/sentences.ts';
import { columnsOf } from '../../src/report/text.ts';
import { root } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { noTerminals, onTerminal } from '../support/terminal.ts';
import { HOST, matmulModule, oddMatmul, rowsOf, Workplace } from './support.ts';

const wrapper = join(root, 'bin', 'iree-compile-tuned');
const tuned = join(root, 'bin', 'iree-tuned');

describe.skipIf(isWithout(noTerminals))('at a terminal', () => {
  test(
    'tuning says what it does, how to turn it off, once, and what was gained',
    { timeout: 240_000 },
    async () => {
      const place = Workplace.simulated({ TERM: 'xterm' }, { isShort: true });
      const build = (name: string, text: string) => {
        place.write(name, text);
        const { folder: cwd, env } = place;
        return onTerminal(200, [wrapper, ...HOST, name, '-o', '-'], { cwd, env }, '>stdout');
      };
      const told = (text: string) => text.includes(INTRODUCTION.slice(0, 40));
      const first = await build('in.mlir', oddMatmul);
      expect(first.text).toMatch(
        /iree-compile-tuned: tuning 1 matmul that has no record yet, for .* at most\n/,
      );
      expect(told(first.text)).toBe(true);
      expect(first.text).toMatch(/iree-compile-tuned: 1 matmul in .*: 1 faster \(\d+\.\d\dx\)\n/);
      expect(place.read('stdout').toString()).not.toContain('iree-compile-tuned');
      const second = await build('other.mlir', matmulModule(16, 32, 64));
      expect(second.text).toMatch(/tuning 1 matmul/);
      expect(told(second.text)).toBe(false);
      const hit = await build('in.mlir', oddMatmul);
      expect(hit.text).not.toContain('iree-compile-tuned');

      // All of a list can be seen, and an operation that is explained.
      const looks = [60, 80, 140].map((columns): [number, string] => [columns, 'records']);
      for (const command of ['devices', 'stats', 'config', 'explain in.mlir']) looks.push([60, command]);
      const env = { ...place.env, NO_COLOR: '1' };
      const seen = looks.map(async ([columns, command]) => {
        const argv = [tuned, ...command.split(' ')];
        return { columns, ...(await onTerminal(columns, argv, { cwd: place.folder, env })) };
      });
      for (const { columns, code, text } of await Promise.all(seen)) {
        expect(code).toBe(0);
        const words = text.split('\n').filter((line) => columnsOf(line) > columns);
        // But for what is to be copied as a whole.
        expect(words.filter((line) => /\S\s+\S/.test(line))).toEqual([]);
        expect(text).not.toContain('\u001b');
      }
      const { stdout } = await place.tuned(['explain', 'in.mlir']);
      expect(stdout.toString()).toMatch(
        /^in\.mlir:2:13 {2}linalg\.matmul\n {3}2 \| {3}%result = linalg\.matmul .*\n {5}\| {13}\^~{12}$/m,
      );
    },
  );
});

test('a pipe hears nothing of it', { timeout: 240_000 }, async () => {
  const place = Workplace.simulated({}, { isShort: true });
  place.write('in.mlir', oddMatmul);
  const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];
  const { stdout, stderr } = await place.compile(argv, { env: { FORCE_COLOR: '1' } });
  expect(rowsOf(place, 'claim')).toBe(1);
  expect(stdout.toString() + stderr).not.toContain('iree-compile-tuned');
  expect(place.has('cache/introduced')).toBe(false);
});
