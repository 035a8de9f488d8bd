// The script of the page: reads the page's data and draws the sections. All is drawn before the load event, because a headless
// browser prints the page at that event.
import { gunzipSync, strFromU8 } from 'fflate';
import type { PageData } from '../data.ts';
import { drawBuilds } from './builds.ts';
import { makeCopyable } from './copy.ts';
import { drawDrift } from './drift.ts';
import { drawFilters } from './filters.ts';
import { drawGains } from './gains.ts';
import { drawLost } from './lost.ts';
import { drawNext } from './next.ts';
import { drawPrograms } from './programs.ts';
import { drawRecords } from './records.ts';
import { drawRoofline } from './roofline.ts';
import { rowsOf, type Drawing, type Page } from './rows.ts';
import { drawSearches } from './searches.ts';
import { drawShapes } from './shapes.ts';

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  gains: drawGains,
  shapes: drawShapes,
  roofline: drawRoofline,
  lost: drawLost,
  programs: drawPrograms,
  records: drawRecords,
  searches: drawSearches,
  builds: drawBuilds,
  drift: drawDrift,
  next: drawNext,
};

function unpack(): PageData {
  const packed = document.getElementById('data')!.textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return JSON.parse(strFromU8(gunzipSync(bytes))) as PageData;
}

function start(): void {
  makeCopyable(document);
  const data = unpack();
  const page: Page = { data, rows: rowsOf(data) };
  const filtered = [...document.querySelectorAll<HTMLElement>('[data-draw]')].map((host) =>
    DRAWINGS[host.dataset['draw']!]!(host, page),
  );
  // The filters draw the sections with records, now and after each change.
  if (page.rows.length > 0)
    drawFilters(document.getElementById('filters')!, page, (rows) => {
      for (const show of filtered) show?.(rows);
    });
  document.documentElement.dataset['drawn'] = '';
}

try {
  start();
} catch (error) {
  const problem = document.getElementById('problem')!;
  problem.textContent = `The page could not be drawn: ${error instanceof Error ? error.message : String(error)}. It takes a browser of 2023 or later.`;
  problem.hidden = false;
}
