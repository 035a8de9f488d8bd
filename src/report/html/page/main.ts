// The script of the page: reads the data that lies in it, and draws each section when it comes into view.
import type { PageData } from '../data.ts';
import { drawBuilds } from './builds.ts';
import { makeCopyable } from './copy.ts';
import { drawDrift } from './drift.ts';
import { drawFilters } from './filters.ts';
import { drawGains } from './gains.ts';
import { drawNext } from './next.ts';
import type { Drawing, Page } from './page.ts';
import { drawPrograms } from './programs.ts';
import { drawRecords } from './records.ts';
import { drawRoofline } from './roofline.ts';
import { rowsOf, type Row } from './rows.ts';
import { drawSearches } from './searches.ts';
import { drawShapes } from './shapes.ts';

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  gains: drawGains,
  shapes: drawShapes,
  roofline: drawRoofline,
  programs: drawPrograms,
  records: drawRecords,
  searches: drawSearches,
  builds: drawBuilds,
  drift: drawDrift,
  next: drawNext,
};

/** A part of the page that is drawn once it is near, and again when other records are chosen. */
interface Part {
  readonly host: HTMLElement;
  readonly isFiltered: boolean;
  show: ((rows: readonly Row[]) => void) | null;
  isStale: boolean;
}

async function unpack(): Promise<PageData> {
  const text = document.getElementById('data')!.textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).json()) as PageData;
}

async function start(): Promise<void> {
  makeCopyable(document);
  const data = await unpack();
  const page: Page = { data, rows: rowsOf(data) };
  let chosen: readonly Row[] = page.rows;
  const near = new Set<Part>();

  function draw(part: Part): void {
    if (!part.isStale) return;
    part.isStale = false;
    part.show ??= DRAWINGS[part.host.dataset['draw']!]!(part.host, page);
    part.show(part.isFiltered ? chosen : page.rows);
  }

  const parts = [...document.querySelectorAll<HTMLElement>('[data-draw]')].map((host): Part => ({
    ...{ host, isFiltered: host.closest('[data-filtered]') !== null, show: null, isStale: true },
  }));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const part = parts.find(({ host }) => host === target)!;
        if (isIntersecting) near.add(part);
        else near.delete(part);
        if (isIntersecting) draw(part);
      }
    },
    { rootMargin: '600px' },
  );
  const drawAll = () => {
    for (const part of parts) draw(part);
  };
  addEventListener('beforeprint', drawAll);

  if (page.rows.length > 0)
    drawFilters(document.getElementById('filters')!, page, (rows) => {
      chosen = rows;
      for (const part of parts) part.isStale ||= part.isFiltered;
      for (const part of near) draw(part);
    });
  for (const { host } of parts) observer.observe(host);
  document.documentElement.dataset['drawn'] = '';
}

start().catch((error: unknown) => {
  const problem = document.getElementById('problem')!;
  problem.textContent = `The page could not be drawn: ${error instanceof Error ? error.message : String(error)}. It takes a browser of 2023 or later.`;
  problem.hidden = false;
});
