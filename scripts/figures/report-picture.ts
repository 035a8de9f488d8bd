// The picture of the report: the top of a page with synthetic records, in Chromium.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { pageText } from '../../src/report/html/page.ts';
import { BROWSER, noBrowser } from '../../test/support/browser.ts';
import { dataOf } from '../../test/report/html/made-up.ts';
import { buildReportPage } from '../report-page.mjs';

/** Writes a PNG. @throws Error without Chromium */
export async function writeReportPicture(path: string): Promise<void> {
  if (BROWSER === undefined) throw new Error(noBrowser!);
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
  try {
    const page = join(folder, 'report.html');
    writeFileSync(page, pageText(dataOf(60), await buildReportPage()));
    const tab = await browser.newPage({
      ...{ viewport: { width: 1280, height: 1030 }, deviceScaleFactor: 0.75, colorScheme: 'light' },
    });
    await tab.goto(pathToFileURL(page).href);
    await tab.waitForSelector('[data-drawn]');
    await tab.screenshot({ path });
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}
