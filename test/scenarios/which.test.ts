// `iree-tuned which`: the records in a delivered module.
// In full after a change of src/report/module-note.ts, src/wrapper/provenance.ts, src/cli/which.ts.
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ExplainedRecord } from '../../src/report/explain.ts';
import type { ModuleNote } from '../../src/report/module-note.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { recordedWorkplace } from './faults/support.ts';
import { HOST, oddMatmul, Workplace, argv } from './support.ts';
import { statistics } from './faults/support.ts';

const AUTHOR = 'a kestrel';

interface Said extends Omit<ModuleNote, 'identity'> {
  readonly sha256: string;
  readonly operations: (ModuleNote['operations'][number] & { readonly revoked: unknown })[];
}

const asked = (place: Workplace, module = 'out.vmfb') => place.asked<Said>(['which', module, '--json']);
const digestOf = (place: Workplace, name: string) =>
  createHash('sha256').update(place.read(name)).digest('hex');
const notes = (place: Workplace) => readdirSync(place.path('cache/modules'));
const build = async (place: Workplace, env: Record<string, string> = {}) => {
  expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
};

test('a module has its records, whatever its path is, until one is revoked', async () => {
  const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0' });
  const { explanation } = await place.explain(argv);
  const [known] = await place.asked<ExplainedRecord[]>(['db', 'ls', '--json']);
  expect(explanation.operations).toMatchObject([
    { source: 'own database', record: { digest: known!.digest } },
  ]);

  copyFileSync(place.path('out.vmfb'), place.path('copy.vmfb'));
  const found = await asked(place, 'copy.vmfb');
  expect(found).toMatchObject({
    ...{ sha256: digestOf(place, 'copy.vmfb'), input: 'in.mlir', folder: place.folder, untuned: 0 },
    operations: [
      {
        ...{ operation: 'linalg.matmul', count: 1, source: 'own database', landed: null, revoked: null },
        ...{
          configuration: { kind: 'tile' },
          record: { digest: known!.digest, createdBy: known!.createdBy },
        },
      },
    ],
  });
  // Repeated builds deliver the same bytes, and note nothing.
  await build(place);
  expect(notes(place)).toHaveLength(1);

  await place.said(['db', 'revoke', '--record', known!.digest, '--reason', 'a broken fan']);
  const text = await place.said(['which', 'out.vmfb']);
  expect(text).toContain(`out.vmfb is the output of in.mlir in ${place.folder}, built at `);
  expect(text).toContain(`  record: ${known!.digest}\n`);
  expect(text).toContain(`by ${known!.createdBy} on ${known!.machine}`);
  expect(text).toContain(`  revoked: record ${known!.digest} (a broken fan)`);
});

test('an unknown module and a missing one have a sentence with the way out', async () => {
  const place = new Workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', oddMatmul);
  await build(place);
  const { code, stdout, stderr } = await place.tuned(['which', 'out.vmfb']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(
    `no tuned build on this machine delivered out.vmfb (SHA-256 ${digestOf(place, 'out.vmfb')})`,
  );
  expect(stderr).toContain('--iree-tuned-explain=FILE');
  expect(await place.tuned(['which', 'none.vmfb'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none.vmfb cannot be read: there is no such file') as string,
  });
});

test(
  'the first build after iree-tuned tune has its records, and its output is kept',
  { timeout: 300_000 },
  async () => {
    const place = Workplace.simulated({ IREE_TUNED_AUTHOR: AUTHOR }, { isShort: true });
    place.write('in.mlir', oddMatmul);
    await place.said(['tune', 'in.mlir', '--', ...HOST]);
    await build(place, { IREE_TUNED_BUDGET: '0' });
    expect(await asked(place)).toMatchObject({ operations: [{ record: { createdBy: AUTHOR } }] });
    expect(readdirSync(place.path('cache/outputs'))).toHaveLength(2);
    expect((await place.asked<ExplainedRecord[]>(['db', 'ls', '--json']))[0]).toMatchObject({
      createdBy: AUTHOR,
    });
    expect(await place.said(['db', 'show', 'm='])).toContain(`by ${AUTHOR} on `);
    expect(await place.said(['db', 'export', '-'])).toContain(`"createdBy":"${AUTHOR}"`);
  },
);

test(
  'a module of another home names the base of its records, and stats count them',
  { tags: 'full' },
  async () => {
    const folder = temporaryDirectory();
    const writer = await recordedWorkplace();
    await writer.said(['team', 'publish', folder]);
    const place = new Workplace({ IREE_TUNED_TEAM: folder, IREE_TUNED_BUDGET: '0' });
    place.write('in.mlir', oddMatmul);
    await build(place);
    const [record] = await writer.asked<ExplainedRecord[]>(['db', 'ls', '--json']);
    expect(await asked(place)).toMatchObject({
      operations: [{ source: `base ${folder}`, record: { digest: record!.digest } }],
    });
    expect(await statistics(place)).toMatchObject({ hits: { [`base ${folder}`]: 1 } });
    expect(await place.said(['stats'])).toMatch(/^ {2}found +1\n {4}base .* 1$/m);

    // A lock file has no evidence.
    await place.said(['lock', 'in.mlir', '--', ...HOST]);
    const explained = await place.explain(argv);
    expect(explained.explanation.operations).toMatchObject([{ source: 'lock file', record: null }]);
    expect(await statistics(place)).toMatchObject({ hits: { [`base ${folder}`]: 1, 'lock file': 1 } });
  },
);
