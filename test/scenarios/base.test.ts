// Records of one home are in the builds of another home, which measures nothing: by a team's base in a folder, and by an export.
// In full after a change of src/base, src/cli/team.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { DEPTHWISE_PROGRAM } from './programs.ts';
import { HOST, oddMatmul, Workplace, argv } from './support.ts';

const SLOW = { timeout: 300_000 };

const program = `${DEPTHWISE_PROGRAM}\n${oddMatmul.replace('@main', '@product')}`;
let tuned: ReturnType<typeof tunedHome> | undefined;
/** A home whose program is faster in other forms, and keeps configurations in them. Tuned once. */
const home = () => (tuned ??= tunedHome());

async function tunedHome() {
  const place = Workplace.simulated();
  place.write('in.mlir', program);
  // The written convolution is slower than its form. The configured matmul is faster.
  place.write('slower', 'conv');
  await place.built(argv);
  const next = await place.built(argv);
  expect(next).toMatchObject({ forms: { used: true }, program: null });
  expect(next.route).not.toBe('none');
  expect(next.operations.map(({ outcome }) => outcome)).toContain('hit');
  return { place, output: place.read('out.vmfb'), route: next.route };
}

/** A home without records, whose builds measure nothing. */
function newcomer(team: string) {
  const place = Workplace.simulated({ IREE_TUNED_BUDGET: '0', IREE_TUNED_TEAM: team });
  place.write('in.mlir', program);
  return place;
}

test(
  'the first build of a fresh home has the bytes of the tuned one, until a revocation',
  { ...SLOW, tags: 'full' },
  async () => {
    const { place, output, route } = await home();
    const team = join(temporaryDirectory(), 'a base, new');
    // A comma stands between two bases.
    const folder = team.replace(',', '');
    const first = await place.asked<{ isNew: boolean; sequence: number }>([
      'team',
      'publish',
      folder,
      '--json',
    ]);
    expect(first.isNew).toBe(true);
    expect(await place.asked(['team', 'publish', folder, '--json'])).toMatchObject({
      isNew: false,
      sequence: first.sequence,
    });

    const other = newcomer(folder);
    expect(await other.built(argv)).toMatchObject({ route, forms: { used: true } });
    expect(other.read('out.vmfb').equals(output)).toBe(true);
    // The next one is a replay.
    const again = await other.explain(argv);
    expect(again).toMatchObject({ code: 0, explanation: { route } });
    expect(await other.said(['team', 'status'])).toMatch(/here +2 claims for/);
    expect(await other.asked(['explain', 'in.mlir', '--json', '--', ...HOST])).toMatchObject({ route });

    // A revocation arrives with the next question for the head.
    const [record] = await place.asked<readonly { digest: string }[]>(['db', 'ls', '--json']);
    const revoking = Workplace.simulated();
    expect(await revoking.said(['db', 'import', place.database])).toContain('claim');
    await revoking.said(['db', 'revoke', '--record', record!.digest, '--reason', 'a test']);
    await revoking.said(['team', 'publish', folder]);
    await other.said(['team', 'sync']);
    const outcomes = async () => (await other.built(argv)).operations.map(({ outcome }) => outcome);
    expect(await outcomes()).toContain('default');

    // A rollback brings it back.
    expect(await revoking.said(['team', 'publish', folder, '--rollback'])).toContain(String(first.sequence));
    await other.said(['team', 'sync']);
    expect(await outcomes()).toEqual(['hit', 'hit']);
    expect(other.read('out.vmfb').equals(output)).toBe(true);
  },
);

test.each([
  ['lines', ['db', 'export', 'carried']],
  ['a database', ['db', 'export', '--sqlite', 'carried']],
])(
  'a program that was tuned elsewhere is built from imported %s to the same bytes',
  { ...SLOW, tags: 'full' },
  async (_, words) => {
    const { place, output, route } = await home();
    expect(await place.said(words)).toContain('carried: ');
    const other = newcomer('');
    // Nothing is known there yet.
    expect(await other.built(argv)).toMatchObject({ route: 'none', forms: { code: 'forms-unknown' } });
    expect(await other.said(['db', 'import', place.path('carried')])).toMatch(/ 2 notes; /);
    expect(await other.built(argv)).toMatchObject({ route, forms: { used: true } });
    expect(other.read('out.vmfb').equals(output)).toBe(true);
  },
);

test('records go to the inbox, and from there to others', SLOW, async () => {
  const folder = temporaryDirectory();
  const writer = Workplace.simulated({ IREE_TUNED_TEAM: folder, IREE_TUNED_TEAM_PUBLISH: 'inbox' });
  writer.write('in.mlir', oddMatmul);
  await writer.built(argv);
  const inbox = join(folder, 'inbox');
  const hasFile = () => existsSync(inbox) && readdirSync(inbox).some((name) => name.endsWith('.gz'));
  await expect.poll(hasFile, { timeout: 10_000 }).toBe(true);
  // Hostile files stop nobody.
  writeFileSync(join(inbox, 'a.jsonl.gz'), Buffer.from([0x1f, 0x8b, 1, 2, 3]));
  writeFileSync(join(inbox, 'b.jsonl.gz'), '{"type": "revocation"}\nno line\n');
  const publisher = Workplace.simulated();
  const published = await publisher.tuned(['team', 'publish', folder]);
  expect(published.code).toBe(1);
  expect(published.stderr).toMatch(/refused: .*a\.jsonl\.gz.*\n.*b\.jsonl\.gz: 2 lines refused/s);
  expect(readdirSync(inbox)).toEqual([]);
  expect(readdirSync(join(folder, 'refused'))).toEqual(['a.jsonl.gz']);

  const reader = newcomer(folder);
  reader.write('in.mlir', oddMatmul);
  expect(await reader.built(argv)).toMatchObject({ operations: [{ outcome: 'hit' }] });
});

test(
  'with publish=now the next build of another home has the records',
  { ...SLOW, tags: 'full' },
  async () => {
    const folder = temporaryDirectory();
    const writer = Workplace.simulated({ IREE_TUNED_TEAM: folder, IREE_TUNED_TEAM_PUBLISH: 'now' });
    writer.write('in.mlir', oddMatmul);
    const reader = newcomer(folder);
    reader.write('in.mlir', oddMatmul);
    expect(await reader.built(argv)).toMatchObject({ operations: [{ outcome: 'default' }] });
    await writer.built(argv);
    await expect.poll(() => existsSync(join(folder, 'head.json')), { timeout: 10_000 }).toBe(true);
    expect(await reader.built(argv)).toMatchObject({ operations: [{ outcome: 'hit' }] });
  },
);
