// What a lock file has to say about a program, and how that differs from what it knows.
import { describe, expect, test } from 'vitest';
import { differencesFrom, programIn, recordsIn, type AskedProgram } from '../../src/lock/find.ts';
import type { LockedWorkload } from '../../src/lock/lock.ts';
import { DEFAULT_RECORD, LEFT_OUT, programOf, RECORD, UNKNOWN } from './support.ts';

const asked = (change: Partial<AskedProgram> = {}): AskedProgram => ({ ...programOf(), ...change });
const lockOf = (...programs: ReturnType<typeof programOf>[]) => ({ programs });

describe('a program', () => {
  test('is found by what it is, whatever it is called and however its target is spelled', () => {
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
    [{ digest: '1'.repeat(32) }, 'its text is another one'],
    [{ compiler: '3.14.0@d' }, 'the compiler is 3.14.0@d instead of 3.13.0@cccccccccc'],
    [{ target: 'llvm-cpu x' }, `the target is "llvm-cpu x" instead of "${programOf().target}"`],
    [{ flags: ['--iree-input-type=tosa'] }, 'other flags say how its input is read'],
    [{ flags: ['--split-input-file'] }, 'other flags say how its input is read'],
    [{ inject: 'spec' }, 'inject is spec instead of auto'],
    [{ dim: 'm=1,16' }, 'dim is m=1,16 instead of not set'],
  ])('with %o is another one, and that is named', (change, difference) => {
    expect(programIn(lockOf(programOf()), asked(change))).toBeNull();
    expect(differencesFrom(lockOf(programOf()), asked(change))).toEqual([difference]);
  });
  test('is compared with the entry of its name that is most like it', () => {
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

  test('is known from any program of this target and compiler', () => {
    expect(records({}, ['b.mlir', RECORD])).toBe(RECORD);
    expect(records({}, ['b.mlir', RECORD, 'another'])).toBeUndefined();
    expect(records({ target: 'llvm-cpu x' }, ['b.mlir', RECORD])).toBeUndefined();
  });
  test('is what its own program says first, then what makes one worse, then what is surely fastest', () => {
    expect(records({}, ['b.mlir', better], ['models/a.mlir', RECORD])).toBe(RECORD);
    expect(records({}, ['b.mlir', better], ['c.mlir', LEFT_OUT])).toBe(LEFT_OUT);
    expect(records({}, ['b.mlir', RECORD], ['c.mlir', better], ['d.mlir', DEFAULT_RECORD])).toBe(better);
  });
  test('is not known from what was chosen for a whole program, or from nothing', () => {
    const chosen = { kind: 'program', configuration: RECORD.configuration, because: 'it is faster' } as const;
    expect(records({}, ['models/a.mlir', chosen])).toBeUndefined();
    expect(records({}, ['models/a.mlir', UNKNOWN], ['b.mlir', RECORD])).toBe(RECORD);
  });
});
