// Each message that docs/troubleshooting.md explains is one that the sources have, and docs/settings.md has every setting.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NAMES } from '../../src/settings/settings.ts';
import { root } from '../support/folders.ts';

const read = (...path: readonly string[]) => readFileSync(join(root, ...path), 'utf8');

/** All text of the programs, on one line: messages are broken in the sources where lines end. */
const sources = ['src', 'bin']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  )
  .map((text) => text.replaceAll(/['`] \+\n\s*['`]/g, ''));

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const page = read('docs', 'troubleshooting.md');
const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading!);

test('every heading is a message, each once', () => {
  expect(headings.length).toBeGreaterThan(25);
  expect(new Set(headings).size).toBe(headings.length);
  for (const heading of headings) expect(heading).toMatch(/^`[^`]+`$/);
});

test.each(headings)('%s is said by the programs', (heading) => {
  const parts = heading
    .slice(1, -1)
    .split('…')
    .filter((part) => part !== '');
  // All parts stand in one message, in their order.
  const message = new RegExp(parts.map(escaped).join('[^\\n]*'));
  expect(sources.some((text) => message.test(text))).toBe(true);
});

test('every way out that the page names is there', () => {
  for (const [, name] of page.matchAll(/IREE_TUNED_([A-Z_]+)/g))
    expect([...NAMES, 'node']).toContain(name!.toLowerCase().replaceAll('_', '-'));
});

test.each(NAMES)('the setting %s is described', (name) => {
  expect(read('docs', 'settings.md')).toMatch(new RegExp(`^\\| \`${name}\` \\|`, 'm'));
});

test('the README describes no setting in other words', () => {
  const rows = [...read('README.md').matchAll(/^\| `([a-z-]+)` \| ([^|]*) \| ([^|]*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(3);
  for (const [, name, , fallback] of rows)
    expect(read('docs', 'settings.md')).toMatch(
      new RegExp(`^\\| \`${name!}\` \\|.*\\| ${escaped(fallback!)} \\|$`, 'm'),
    );
});
