// Builds whose candidates run on another machine: an OpenSSH server of this one, and an emulator that is none.
// In full after a change of src/runner.
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runtimeTool } from '../support/installed-tools.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { foreignRoot, whyNoForeignRoot, type ForeignRoot } from '../support/foreign-root.ts';
import { isFull, isWithout } from '../support/needs.ts';
import { sshServer, whyNoSsh, type SshServer } from '../support/ssh-server.ts';
import { HOST, oddMatmul, rowsOf, runMatmul, Workplace } from './support.ts';

const tools = dirname(runtimeTool('iree-run-module'));
const argv = ['in.mlir', ...HOST, '-o', 'out.vmfb'];

const workplace = (env: Readonly<Record<string, string>>) => {
  const place = new Workplace({
    IREE_TUNED_RUNNER_TOOLS: tools,
    IREE_TUNED_LOG: 'log',
    IREE_TUNED_BUDGET: '60',
    ...env,
  });
  place.write('in.mlir', oddMatmul);
  return place;
};

describe.skipIf(isWithout(whyNoSsh))('over ssh', () => {
  const there = temporaryDirectory();
  let server: SshServer;
  beforeAll(async () => {
    server = await sshServer(there);
  });
  afterAll(() => {
    server.close();
  });

  test(
    'a build tunes, and the next one needs no link; without a link a new input is built untuned',
    { tags: 'full' },
    async () => {
      const place = workplace({ IREE_TUNED_RUNNER: server.address, PATH: server.path });
      const first = await place.built(argv);
      expect(first.operations.map(({ outcome }) => outcome)).toEqual(['tuned']);
      const result = await runMatmul(place, 'out.vmfb', 61, 67, 71);
      await place.stock(argv);
      expect(result.stdout).toEqual((await runMatmul(place, 'out.vmfb', 61, 67, 71)).stdout);
      expect(readdirSync(there).sort()).toEqual(['.iree-tuned-measuring', 'home']);
      server.stop();
      const second = await place.built(argv);
      expect(second.operations.map(({ outcome }) => outcome)).toEqual(['hit']);
      place.write('in.mlir', oddMatmul.replaceAll('61x', '59x'));
      const third = await place.built(argv);
      expect(third.operations.map(({ outcome }) => outcome)).toEqual(['default']);
      expect(place.read('log').toString()).toMatch(/ssh:\/\/board does not answer/);
      expect(rowsOf(place, 'undecided')).toBe(0);
      await server.start();
    },
  );
});

describe.skipIf(!isFull || isWithout(whyNoForeignRoot()))(
  'a board with another system, over a slow link',
  () => {
    let there: ForeignRoot;
    let server: SshServer;
    beforeAll(async () => {
      there = foreignRoot();
      server = await sshServer(there.temporary, { enter: there.enter, delayMs: 50 });
    });
    afterAll(() => {
      server.close();
      there.remove();
    });
    const arm = [
      ...['in.mlir', '--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'],
      ...[
        '--iree-llvmcpu-target-triple=aarch64-linux-gnu',
        '--iree-llvmcpu-target-cpu=cortex-a76',
        '-o',
        'out.vmfb',
      ],
    ];

    // An emulator's times say nothing, so any decision is right.
    test('a build measures and verifies there, and leaves nothing', { tags: 'full' }, async () => {
      const place = workplace({
        IREE_TUNED_RUNNER: server.address,
        IREE_TUNED_RUNNER_TOOLS: there.tools,
        IREE_TUNED_BUDGET: '120',
        PATH: server.path,
      });
      const { operations, device, program } = await place.built(arm);
      expect(device).toMatchObject({ model: 'arm64 (0x41/0xd0b/0x4)', threads: 1 });
      expect(operations[0]!.outcome).toMatch(/^(?:tuned|default)$/);
      expect(rowsOf(place, 'trial')).toBeGreaterThan(0);
      expect(program?.functions.map(({ equal }) => equal) ?? [true]).toEqual([true]);
      // The link is slow at the end of the session, too.
      await expect
        .poll(() => readdirSync(there.temporary), { timeout: 5000 })
        .toEqual(['.iree-tuned-measuring', 'home']);
      server.stop();
      const again = await place.built(arm);
      expect(again.operations[0]!.outcome).toMatch(/^(?:hit|default)$/);
    });
  },
);

test.each([
  ['an address that is none', 'ssh://-x', /IREE_TUNED_RUNNER=ssh:\/\/-x: it takes ssh:/],
  ['a machine that is none', 'ssh://nobody.invalid', /ssh:\/\/nobody\.invalid does not answer/],
])('%s gives a build without tuning', async (_, runner, message) => {
  const place = workplace({ IREE_TUNED_RUNNER: runner });
  const { code, explanation } = await place.explain(argv);
  expect([code, await place.isStock()]).toEqual([0, true]);
  expect(`${explanation.reason ?? ''}${explanation.operations[0]?.reason ?? ''}`).toMatch(message);
});

test('a command that runs its arguments measures as this machine does', { tags: 'full' }, async () => {
  const place = workplace({ IREE_TUNED_RUNNER: 'env EMULATED=1' });
  const { operations, device } = await place.built(argv);
  expect(operations.map(({ outcome }) => outcome)).toEqual(['tuned']);
  expect(device).toMatchObject({ driver: 'local-sync' });
});
