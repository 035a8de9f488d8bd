import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  argv,
  expectStockBuild,
  misbehavingCompiler,
  recordedWorkplace,
  statistics,
  workplace,
} from './support.ts';

describe('the compiler', () => {
  test('that cannot be found is a clear error', async () => {
    const place = workplace();
    const result = await place.compile(argv, {
      env: { IREE_TUNED_COMPILER: join(place.folder, 'nowhere'), IREE_TOOL_PATH: undefined },
    });
    expect(result.code).not.toBe(0);
    expect(result.stderr).toMatch(/IREE_TUNED_COMPILER.*nowhere/s);
    expect(result.stdout.length).toBe(0);
  });
});

describe('a compiler that misbehaves with what we inject', () => {
  const isInjected = '*--iree-codegen-tuning-spec-path=*';
  test.concurrent.each([
    ['crashes', 'kill -SEGV $$'],
    ['fails', "echo 'in.mlir:2:3: error: no such thing' >&2; exit 1"],
    ['fails for another reason', "echo 'error: no space left' >&2; exit 1"],
    ['ends well without an output', 'exit 0'],
    // It uses no processor time, so it takes half a minute to be known as hanging.
    ['hangs', 'exec sleep 600'],
    ['hangs in a process that it has started', 'sleep 600; exit 0'],
  ])(
    'and %s is run again without it, and not tempted a second time',
    { timeout: 180_000 },
    async (what, deed) => {
      const reason = what.startsWith('hangs') ? 'the tuned compile hung' : 'the tuned compile failed';
      const place = await recordedWorkplace();
      const env = misbehavingCompiler(place, isInjected, `echo x >>tempted; ${deed}`);
      const explanation = await expectStockBuild(place, env);
      expect(explanation).toMatchObject({
        route: 'none',
        applied: false,
        reason,
      });
      const records = JSON.parse((await place.tuned(['records', '--json'])).stdout.toString()) as {
        failure: string | null;
      }[];
      // Only what the compiler says of the operation is held against its record, which others may share.
      if (what === 'fails') expect(records[0]!.failure).toMatch(/no such thing/);
      else expect(records[0]!.failure).toBeNull();
      expect((await statistics(place)).reasons.fallback).toEqual({ [reason]: 1 });
      await expectStockBuild(place, { ...env, IREE_TUNED_BUDGET: '0' });
      expect(place.read('tempted').toString()).toBe('x\n');
    },
  );
});

test('a tuned compile that somebody kills is done without tuning, and as ever the next time', async () => {
  const place = await recordedWorkplace();
  const killedOnce = '[ -e killed ] || { echo x >killed; kill -KILL $$; }';
  const env = misbehavingCompiler(place, '*--iree-codegen-tuning-spec-path=*', killedOnce);
  const explanation = await expectStockBuild(place, env);
  expect(explanation).toMatchObject({ route: 'none', reason: 'the tuned compile failed' });
  const next = await place.explain(argv, { env });
  expect(next).toMatchObject({ code: 0, explanation: { route: 'spec', reason: null } });
});

describe('a compiler that misbehaves by itself', () => {
  test.each([
    ['crashes', 'kill -SEGV $$'],
    ['fails', "echo 'error: no such thing' >&2; exit 3"],
    ['ends well without an output', 'exit 0'],
  ])('and %s does so with us as without us', async (_, deed) => {
    const place = workplace();
    const env = misbehavingCompiler(place, '*', `ulimit -c 0; ${deed}`);
    const ours = await place.compile(argv, { env });
    const direct = await place.run(place.path('iree-compile'), argv);
    expect(ours).toEqual(direct);
    expect(place.has('out.vmfb')).toBe(false);
  });
});
