// What docs/populate.md tells people to type, typed: every block of shell, in order, on the machine whose it is.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOST, oddMatmul, Workplace } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { root } from '../support/real-tools.ts';

const page = readFileSync(join(root, 'docs', 'populate.md'), 'utf8');

const blocks = [...page.matchAll(/^<!-- on: (?<machine>\w+) -->\n```sh\n(?<script>[^]*?)^```$/gm)].map(
  ({ groups, index }) => ({
    machine: groups!['machine']!,
    script: groups!['script']!,
    line: page.slice(0, index).split('\n').length,
  }),
);

test('every block of shell says where it is run, and the options that the page names are there', () => {
  expect(page.match(/^```sh$/gm)).toHaveLength(blocks.length);
  const source = readFileSync(join(root, 'src', 'cli', 'iree-tuned.ts'), 'utf8');
  const own = page.replaceAll(/--iree-[\w-]+/g, '');
  for (const [, option] of own.matchAll(/`?--([a-z][a-z-]+)/g)) expect(source).toContain(`--${option!}`);
});

test('what the page says works, in its order', { timeout: 300_000 }, async () => {
  const share = temporaryDirectory();
  /** What takes hours there takes seconds here: fewer and smaller sizes. */
  const here = (text: string) =>
    text
      .replaceAll('/mnt/share', share)
      .replaceAll(/--m (\d+):\S+/g, '--m $1')
      .replaceAll('--n 1024,4096 --k 1024 --dtype f32,f16', '--n 48 --k 40 --rhs-constant no')
      .replaceAll('--n 512 --k 512', '--n 512 --k 512 --rhs-constant no');
  const places = new Map<string, Workplace>();
  const said: string[] = [];
  for (const { machine, script, line } of blocks) {
    const place = places.get(machine) ?? Workplace.simulated({}, { isShort: true });
    if (!places.has(machine)) {
      mkdirSync(place.path('models'));
      place.write('models/model.mlir', oddMatmul);
      place.write('model.mlir', oddMatmul);
      places.set(machine, place);
    }
    const env = { PATH: `${join(root, 'bin')}:${process.env['PATH']!}`, FLAGS: HOST.join(' ') };
    const { code, stdout, stderr } = await place.run('sh', ['-euc', here(script)], { env });
    if (code !== 0)
      throw new Error(`docs/populate.md:${line}: ended with ${code}\n${stdout.toString()}${stderr}`);
    said.push(stdout.toString());
  }
  expect(said[0]).toMatch(/^1 of 1 have a record now, 1 of them faster/m);
  const [merged] = said.slice(-1);
  expect(merged).toMatch(/m=64 n=512 k=512/);
  expect(merged).toMatch(/m=512 n=512 k=512/);
});
