// In full after a change of src/system/run.ts, src/wrapper/capture.ts, src/wrapper/deliver.ts, src/system/become.ts.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { casesOfTier, isFull } from '../../support/needs.ts';
import { compiler } from '../../support/real-tools.ts';
import { HOST, oddMatmul, WRAPPER, argv } from '../support.ts';
import { misbehavingCompiler, recordedWorkplace, recordMisses, workplace } from './support.ts';

const toStdout = [...HOST, 'in.mlir'];

/** The process as others see it is that of the compiler. */
const REAL = { IREE_TUNED_COMPILER: compiler.executable, IREE_TUNED_BUDGET: '0' };

describe('a new plan, whose output is held back until it is complete', () => {
  test.runIf(process.platform === 'linux')(
    'ends as stock does when its output cannot be written',
    async () => {
      const place = await recordedWorkplace(REAL);
      const limits = 'exec >/dev/full';
      const stock = await place.stock(toStdout, { limits });
      const { explanation, ...ours } = await place.explain(toStdout, { limits });
      expect(explanation.route).toBe('spec');
      expect(ours).toEqual(stock);
      expect(ours.code).not.toBe(0);
    },
  );

  test('ends as stock does if its output is not read', { tags: 'full' }, async () => {
    const place = await recordedWorkplace(REAL);
    const code = async (file: string) => {
      const script = '("$0" "$@"; echo $? >code) | :';
      await place.run('/bin/sh', [
        '-c',
        `${script}; while [ ! -s code ]; do sleep 0.1; done`,
        file,
        ...toStdout,
      ]);
      const said = place.read('code').toString();
      place.write('code', '');
      return said;
    };
    expect(await code(WRAPPER)).toBe(await code(compiler.executable));
  });

  const hasScript = spawnSync('script', ['--version']).status === 0;
  test.runIf(isFull && hasScript && process.platform === 'linux')(
    'has the colours of a terminal',
    { tags: 'full' },
    async () => {
      const place = await recordedWorkplace(REAL);
      // Without a CPU name the compiler compiles with a warning.
      const flags = ['--iree-hal-target-backends=llvm-cpu', 'in.mlir', '-o', 'out.vmfb'];
      await place.compile(flags, { env: { IREE_TUNED_ON_MISS: 'record' } });
      recordMisses(place);
      const onTerminal = async (file: string, TERM: string) => {
        const command = [file, ...flags].join(' ');
        const { stdout } = await place.run('script', ['-qec', command, '/dev/null'], { env: { TERM } });
        return stdout.toString();
      };
      for (const [term, route] of casesOfTier(
        [
          ['xterm-256color', 'preprocess'],
          ['dumb', 'inline'],
        ] as const,
        1,
      )) {
        const stock = await onTerminal(compiler.executable, term);
        expect(stock).toContain('Defaulting to targeting a generic CPU');
        expect(stock.includes('\u001b[')).toBe(term !== 'dumb');
        // A new plan, and a known plan.
        expect(await onTerminal(`env IREE_TUNED_INJECT=${route} ${WRAPPER}`, term)).toBe(stock);
        expect(await onTerminal(`env IREE_TUNED_INJECT=${route} ${WRAPPER}`, term)).toBe(stock);
      }
    },
  );
});

describe.runIf(process.platform === 'linux')('descriptors of the caller', () => {
  const cases: [string, string, string[], string][] = [
    ['for the input', 'exec 5<in.mlir', [...HOST, '/dev/fd/5', '-o', 'out.vmfb'], 'out.vmfb'],
    ['for the output', 'exec 5>out.vmfb', [...HOST, 'in.mlir', '-o', '/dev/fd/5'], 'out.vmfb'],
    ['by the name of stdout', 'exec >out.vmfb', [...HOST, 'in.mlir', '-o', '/dev/stdout'], 'out.vmfb'],
  ];
  test.each(cases)('%s are the same for the compiler', { tags: 'full' }, async (_, limits, flags, output) => {
    const place = await recordedWorkplace(REAL);
    const bytes = async (run: Promise<unknown>) => {
      const result = await run;
      expect(result).toMatchObject({ code: 0, stderr: '' });
      return place.read(output);
    };
    const stock = await bytes(place.stock(flags, { limits }));
    expect((await bytes(place.compile(flags, { limits }))).equals(stock)).toBe(true);
  });
});

test.each([
  ['text', 30, /the input has too much text beside its weights/],
  [
    'operations',
    64,
    /too many for Node's memory: set NODE_OPTIONS=--max-old-space-size=\d+ to tune it; this build goes on without tuning/,
  ],
] as const)(
  "a program whose %s exceed Node's memory is compiled untuned",
  { tags: 'full' },
  async (_, mebibytes, why) => {
    const place = workplace(REAL);
    const type = 'tensor<8x8xf32>';
    const dead = `  linalg.matmul ins(%x, %x : ${type}, ${type}) outs(%x : ${type}) -> ${type}\n`;
    // The compiler drops the function, but not before this program has read it.
    place.write(
      'in.mlir',
      `${oddMatmul}func.func private @dead(%x: ${type}) {\n${dead.repeat(10_000)}  return\n}\n`,
    );
    await place.stock(argv);
    const stock = place.read('out.vmfb');
    place.remove('out.vmfb');
    const env = { NODE_OPTIONS: `--max-old-space-size=${mebibytes}`, IREE_TUNED_LOG: 'log' };
    expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(place.read('out.vmfb').equals(stock)).toBe(true);
    expect(place.read('log').toString()).toMatch(why);
  },
);

describe('a closed descriptor of the caller', () => {
  const cases: [string, string, string, string[], number][] = [
    ['stdout', 'is an error for an output to stdout', 'exec >&-', [...HOST, 'in.mlir', '-o', '-'], 1],
    ['stdin', 'is an error for an input from stdin', 'exec <&-', [...HOST, '-', '-o', 'out.vmfb'], 1],
    ['stdout', 'does not matter for files', 'exec >&-', argv, 0],
    ['stdin', 'does not matter for files', 'exec <&-', argv, 0],
  ];
  test.each(casesOfTier(cases, 2))('%s %s', async (_, __, limits, flags, code) => {
    const place = await recordedWorkplace(REAL);
    const stock = await place.stock(flags, { limits });
    expect(stock.code).toBe(code);
    expect(await place.compile(flags, { limits })).toMatchObject({ code, stderr: stock.stderr });
  });
});

test("the caller's pipes are closed when the compile has ended", { tags: 'full' }, async () => {
  const place = workplace(REAL);
  // A child of ours with this pipe would keep `cat` waiting.
  const run = await place.run('/bin/sh', ['-c', '"$0" "$@" 2>&1 | cat; echo ended', WRAPPER, ...argv]);
  expect(run).toMatchObject({ code: 0, stdout: Buffer.from('ended\n') });
});

test.each(casesOfTier(['SIGINT', 'SIGTERM', 'SIGHUP'] as const, 1))(
  'a new plan and its compiler end by %s',
  async (signal) => {
    const place = await recordedWorkplace(REAL);
    // Like LLVM, it cleans up and ends by the signal.
    const deed = `trap 'echo cleaned >cleaned; trap - ${signal.slice(3)}; kill -${signal.slice(3)} $$' ${signal.slice(3)}; echo x >compiling; while :; do sleep 0.05; done`;
    const env = misbehavingCompiler(place, '*--iree-codegen-tuning-spec-path=*', deed);
    const { child, ended } = place.start(WRAPPER, argv, { env });
    await expect.poll(() => place.has('compiling'), { timeout: 50_000 }).toBe(true);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: null, signal, stderr: '' });
    expect(place.has('cleaned')).toBe(true);
  },
);
