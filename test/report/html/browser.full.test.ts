// @module-tag slow
// The page in a browser: charts, filters, sorting, requests and accessibility.
// In full after a change of src/report/html.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildReportPage } from '../../../scripts/report-page.mjs';
import type { PageData } from '../../../src/report/html/data.ts';
import { pageDataOf } from '../../../src/report/html/model.ts';
import { pageText, type PageAssets } from '../../../src/report/html/page.ts';
import { BROWSER, noBrowser } from '../../support/browser.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { isWithout } from '../../support/needs.ts';
import { hostile } from './hostile.ts';
import { dataOf, LOSSES } from './made-up.ts';

const SECTIONS = ['gains', 'roofline', 'lost', 'records'];

describe.skipIf(isWithout(noBrowser))('the report page in Chromium', () => {
  let browser: Browser;
  let assets: PageAssets;
  beforeAll(async () => {
    [browser, assets] = await Promise.all([
      chromium.launch({ executablePath: BROWSER!, args: ['--no-sandbox'] }),
      buildReportPage(),
    ]);
  });
  afterAll(() => browser.close());

  /** Opens a page of this data, and records its errors and requests. */
  async function open(data: PageData, options: Parameters<Browser['newPage']>[0] = {}) {
    const path = join(temporaryDirectory(), 'report.html');
    writeFileSync(path, pageText(data, assets));
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => requests.push(request.url()));
    const address = pathToFileURL(path).href;
    await page.goto(address);
    await page.waitForSelector('[data-drawn]');
    return { page, complaints, requests, address };
  }

  const texts = (page: Page, selector: string) => page.locator(selector).allTextContents();
  /** Violations of the accessibility rules, of all or of some. */
  const serious = async (page: Page, rules?: readonly string[]) => {
    const options = rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } };
    await page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
    const found = await page.evaluate<{ impact: string }[]>(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
        ({ id, impact, nodes: nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)) })))`,
    );
    return found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  };

  test('draws every section without an error or a request', async () => {
    const { page, complaints, requests, address } = await open(dataOf(60, { losses: LOSSES }));
    for (const id of ['gains', 'roofline'])
      expect(await page.locator(`#${id} .chart svg`).count(), id).toBeGreaterThan(0);
    expect(await page.locator('#lost tbody tr').count()).toBe(2 + 2);
    expect(await page.locator('#records tbody tr').count()).toBeGreaterThan(0);
    expect(await page.locator('#problem').isHidden()).toBe(true);
    // Each chart has a text.
    for (const chart of await page.locator('.chart').all())
      expect(await chart.getAttribute('aria-label')).toMatch(/\w+ .*\.$/s);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [address] });
    await page.close();
  });

  describe('without a window', () => {
    let address: string;
    beforeAll(() => {
      const path = join(temporaryDirectory(), 'report.html');
      writeFileSync(path, pageText(dataOf(60), assets));
      address = pathToFileURL(path).href;
    });
    /** The output of a headless browser, started from a shell. */
    const written = (flag: string, extension: string, ...flags: readonly string[]): Buffer => {
      const path = join(temporaryDirectory(), `written.${extension}`);
      const argv = ['--headless', '--no-sandbox', `--${flag}=${path}`, ...flags, address];
      execFileSync(BROWSER!, argv, { stdio: 'ignore' });
      return readFileSync(path);
    };

    test('the PDF has the charts', { tags: 'full' }, () => {
      const streams = written('print-to-pdf', 'pdf')
        .toString('latin1')
        .matchAll(/stream\r?\n([^]*?)endstream/g);
      const texts = [...streams].map(([, stream]) => {
        try {
          return inflateSync(Buffer.from(stream!, 'latin1')).toString('latin1');
        } catch {
          return '';
        }
      });
      // Dots and lines; without a chart there are boxes only.
      expect(texts.join('\n').match(/ [cl]$/gm)?.length ?? 0).toBeGreaterThan(1000);
    });

    test('a picture of the page has the charts', { tags: 'full' }, async () => {
      const picture = written('screenshot', 'png', '--window-size=1200,8000').toString('base64');
      const page = await browser.newPage();
      // Number of bands of 500 pixels that have colours. Text has none.
      const bands = await page.evaluate<number>(`(async () => {
        const image = new Image();
        image.src = 'data:image/png;base64,${picture}';
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
        canvas.drawImage(image, 0, 0);
        let coloured = 0;
        for (let top = 0; top + 500 <= image.height; top += 500) {
          const { data } = canvas.getImageData(0, top, image.width, 500);
          let pixels = 0;
          for (let at = 0; at < data.length; at += 4) if (Math.abs(data[at] - data[at + 2]) > 60) pixels++;
          if (pixels > 300) coloured++;
        }
        return coloured;
      })()`);
      expect(bands).toBeGreaterThanOrEqual(2);
      await page.close();
    });
  });

  test('filters and sorts, by mouse and keyboard, and announces the result', async () => {
    const data = dataOf(120);
    const { page, complaints } = await open(data);
    await page.locator('#records').scrollIntoViewIfNeeded();
    const status = page.locator('#filters [role=status]');
    expect(await status.textContent()).toBe('120 records');
    const gains = async () =>
      (await texts(page, '#records tbody tr:not(.details) td:nth-child(2)')).map(parseFloat);
    await expect.poll(async () => (await gains()).length).toBeGreaterThan(1);
    expect(await gains()).toEqual((await gains()).toSorted((a, b) => b - a));
    const header = page.locator('#records thead th').nth(1);
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    await header.locator('button').focus();
    await page.keyboard.press('Enter');
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    expect(await page.locator('#records [aria-sort]').count()).toBe(1);

    await page.locator('#filters input').fill('f16');
    const wanted = data.records.filter(({ workload }) => workload.includes('f16')).length;
    await expect.poll(() => status.textContent()).toBe(`${wanted} of 120 records`);
    for (const shape of await texts(page, '#records tbody tr:not(.details) th'))
      expect(shape).toContain('f16');
    await page.locator('#filters select').last().selectOption('must not be used');
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await status.textContent()).toBe('120 records');

    await page.locator('#records').scrollIntoViewIfNeeded();
    const toggle = page.getByRole('button', { name: 'Details' }).first();
    await toggle.click();
    expect(await toggle.getAttribute('aria-expanded')).toBe('true');
    expect(await page.locator('#records .details:not([hidden])').textContent()).toMatch(
      /99% interval.*iree-tuned db show/s,
    );
    await page.locator('#records .pager button').click();
    expect(await page.locator('#records .pager [role=status]').textContent()).toBe('50 of 120');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('shows hostile names as text', async () => {
    const { page, complaints, requests, address } = await open(pageDataOf(hostile(20)));
    for (const toggle of (await page.locator('.toggle').all()).slice(0, 5)) await toggle.click();
    expect(await page.evaluate('globalThis.caught')).toBeUndefined();
    expect(await page.locator('main img, main script, main style:not(.chart style)').count()).toBe(0);
    expect(await page.locator('#records').textContent()).toContain('<img src=x onerror=');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [address] });
    await page.close();
  });

  const looks = [
    ['light', undefined, { colorScheme: 'light', viewport: { width: 1200, height: 900 } }],
    // Rules that depend on neither colours nor sizes have the same result.
    [
      'dark, on a phone',
      ['color-contrast', 'target-size', 'scrollable-region-focusable'],
      { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    ],
  ] as const;
  test.each(looks)('is accessible: %s', async (_, rules, options) => {
    // The page's policy would block the checker's script.
    const data = dataOf(12);
    const { page, complaints } = await open(data, { ...options, bypassCSP: true });
    await page.locator('.toggle').first().click();
    expect(await serious(page, rules)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('can be printed, and says what is missing without data', async () => {
    const { page, complaints } = await open(dataOf(0), { bypassCSP: true });
    expect(await page.locator('.missing:visible').count()).toBeGreaterThanOrEqual(SECTIONS.length);
    expect(await serious(page)).toEqual([]);
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('opens with 10,000 records', async () => {
    const { page, complaints, address } = await open(dataOf(10_000));
    expect(statSync(fileURLToPath(address)).size).toBeLessThan(2_000_000);
    expect(await page.locator('#filters [role=status]').textContent()).toBe('10,000 records');
    expect(await page.locator('#gains .chart svg').count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
