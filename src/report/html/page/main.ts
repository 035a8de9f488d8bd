// The script of the page: reads the page's data and draws the sections. All is drawn before the load event, because a headless
// browser prints the page at that event.
import { gunzipSync, strFromU8 } from 'fflate';
import type { PageData } from '../data.ts';
import { makeCopyable } from './dom.ts';
import { drawFilters } from './filters.ts';
import { drawGains } from './gains.ts';
import { drawLost } from './lost.ts';
import { drawRecords } from './records.ts';
import { drawRoofline } from './roofline.ts';
import { pageOf, type Drawing } from './rows.ts';

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  gains: drawGains,
  roofline: drawRoofline,
  lost: drawLost,
  records: drawRecords,
};

function unpack(): PageData {
  const packed = document.getElementById('data')!.textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return JSON.parse(strFromU8(gunzipSync(bytes))) as PageData;
}

function start(): void {
  makeCopyable(document);
  const page = pageOf(unpack());
  const filtered = [...document.querySelectorAll<HTMLElement>('[data-draw]')].map((host) =>
    DRAWINGS[host.dataset['draw']!]!(host, page),
  );
  // The filters draw the sections with records, now and after each change.
  if (page.rows.length > 0)
    drawFilters(document.querySelector<HTMLFormElement>('#filters')!, page, (rows) => {
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
