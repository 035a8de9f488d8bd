// @module-tag slow
// `iree-tuned report`
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { DECISION, subjectOf } from '../store/support.ts';
import { root } from '../support/folders.ts';
import { newPlace } from './commands.ts';

// The script of the page comes from a build.
test.skipIf(!existsSync(join(root, 'dist', 'current', 'report-page.json')))(
  'report writes a page about the filtered records, and prints its content',
  async () => {
    const { at, run } = newPlace();
    const store = openSqliteStore(at('tuning.db'));
    for (const m of [4, 8]) store.putRecord(subjectOf(m), DECISION);
    store.putRecord(subjectOf(8, { compiler: 'iree 3.12.0' }), DECISION);
    store.close();

    const all = await run('report', '--json');
    expect(all).toMatchObject({ code: 0, err: '' });
    const written = readFileSync(at('report.html'));
    expect(JSON.parse(all.out)).toMatchObject({
      ...{ file: 'report.html', bytes: written.length, records: 3, workloads: 2, faster: 3 },
    });

    mkdirSync(at('out'));
    const part = await run('report', '-o', 'out/part.html', '--with-compiler', '3.12');
    expect(part.out).toMatch(/^out\/part\.html: 1 record, \d+ KB; open it in a browser\n$/);
    expect(readFileSync(at('out/part.html'), 'utf8')).toContain('Only records with compiler &#34;3.12&#34;.');
    expect(readdirSync(at('out'))).toEqual(['part.html']);

    const none = await run('report', 'nomatch');
    expect(none).toMatchObject({
      code: 1,
      err: expect.stringContaining('no records that contain "nomatch"') as string,
    });
    expect(readFileSync(at('report.html'))).toEqual(written);
  },
  120_000,
);
