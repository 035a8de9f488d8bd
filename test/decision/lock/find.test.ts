// Finds programs and workloads in a lock file.
import { describe, expect, test } from 'vitest';
import {
  askedOf,
  differencesFrom,
  programIn,
  recordsIn,
  type AskedProgram,
} from '../../../src/decision/lock/find.ts';
import type { LockedWorkload } from '../../../src/decision/lock/lock.ts';
import { commandOf, siteOf, surroundingsOf } from '../../support/inspected.ts';
import { DEFAULT_RECORD, LEFT_OUT, programOf, RECORD, UNKNOWN } from './support.ts';

const asked = (change: Partial<AskedProgram> = {}): AskedProgram => ({ ...programOf(), ...change });
const lockOf = (...programs: ReturnType<typeof programOf>[]) => ({ programs });

describe('a program', () => {
  test('is found by its content, under any name and any spelling of its target', () => {
    const lock = lockOf(programOf());
    expect(programIn(lock, asked())).toBe(lock.programs[0]);
    expect(programIn(lock, asked({ program: null }))).toBe(lock.programs[0]);
    expect(
      programIn(lock, asked({ program: 'copy.mlir', flags: ['--iree-llvmcpu-target-cpu=znver4'] })),
    ).toBe(lock.programs[0]);
    const copy = programOf({ program: 'copy.mlir' });
    expect(programIn(lockOf(programOf(), copy), asked({ program: 'copy.mlir' }))).toBe(copy);
  });
  test.each<[Partial<AskedProgram>, string]>([
    [{ digest: '1'.repeat(32) }, 'its text has changed'],
    [{ compiler: '3.14.0@d' }, 'the compiler is 3.14.0@d instead of 3.13.0@cccccccccc'],
    [{ target: 'llvm-cpu x' }, `the target is "llvm-cpu x" instead of "${programOf().target}"`],
    [{ flags: ['--iree-input-type=tosa'] }, 'its input flags have changed'],
    [{ flags: ['--split-input-file'] }, 'its input flags have changed'],
    [{ inject: 'spec' }, 'inject is spec instead of auto'],
    [{ dim: 'm=1,16' }, 'dim is m=1,16 instead of not set'],
  ])('with %o is another program, and the difference is named', (change, difference) => {
    expect(programIn(lockOf(programOf()), asked(change))).toBeNull();
    expect(differencesFrom(lockOf(programOf()), asked(change))).toEqual([difference]);
  });
  test('is compared with the most similar entry of its name', () => {
    const far = programOf({ target: 'llvm-cpu y', compiler: 'old' });
    expect(differencesFrom(lockOf(far, programOf()), asked({ inject: 'spec' }))).toEqual([
      'inject is spec instead of auto',
    ]);
    expect(differencesFrom(lockOf(far), asked({ program: 'b.mlir' }))).toBeNull();
    expect(differencesFrom(lockOf(), asked())).toBeNull();
  });
});

describe('a workload', () => {
  const records = (change: Partial<AskedProgram>, ...of: [string, LockedWorkload, string?][]) =>
    recordsIn(
      lockOf(
        ...of.map(([program, workload, compiler = asked().compiler]) =>
          programOf({ program, compiler, workloads: new Map([['w', workload]]) }),
        ),
      ),
      asked({ digest: '1'.repeat(32), ...change }),
    ).get('w');
  const better = { ...RECORD, speedup: { ratio: 3, low: 2.9, high: 3.1 } };

  test('is found in any program of this target and compiler', () => {
    expect(records({}, ['b.mlir', RECORD])).toBe(RECORD);
    expect(records({}, ['b.mlir', RECORD, 'another'])).toBeUndefined();
    expect(records({ target: 'llvm-cpu x' }, ['b.mlir', RECORD])).toBeUndefined();
  });
  test('comes from its own program first, then from one that leaves it out, then from the highest lower bound', () => {
    expect(records({}, ['b.mlir', better], ['models/a.mlir', RECORD])).toBe(RECORD);
    expect(records({}, ['b.mlir', better], ['c.mlir', LEFT_OUT])).toBe(LEFT_OUT);
    expect(records({}, ['b.mlir', RECORD], ['c.mlir', better], ['d.mlir', DEFAULT_RECORD])).toBe(better);
  });
  test('is not found in a choice for a whole program, or without a record', () => {
    const chosen = { kind: 'program', configuration: RECORD.configuration, because: 'it is faster' } as const;
    expect(records({}, ['models/a.mlir', chosen])).toBeUndefined();
    expect(records({}, ['models/a.mlir', UNKNOWN], ['b.mlir', RECORD])).toBe(RECORD);
  });
});

test('builds of one version and commit of the compiler share their lock files', () => {
  const site = siteOf();
  const { settings } = surroundingsOf();
  const asked = (key: string) =>
    askedOf(
      {
        command: commandOf('in.mlir'),
        inspected: { input: { digest: 'digest' }, site: { ...site, compiler: { ...site.compiler, key } } },
      },
      settings,
      'iree-tuned.lock',
    ).compiler;
  const { key } = site.compiler;
  expect([asked(key), asked(`${key}+0123456789`)]).toEqual([key, key]);
  expect(asked('3.14.0@cccccccccc')).toBe('3.14.0@cccccccccc');
});
