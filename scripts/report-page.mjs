// Bundles what a report's page is drawn by: one script and one style sheet, each to be put into the page as it is.
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = join(import.meta.dirname, '../src/report/html/page');

/** Gives the texts of both. */
export async function buildReportPage() {
  const common = {
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    write: false,
    legalComments: 'none',
    logLevel: 'warning',
  };
  const [script, style] = await Promise.all([
    build({
      ...common,
      entryPoints: ['main.ts'],
      format: 'iife',
      platform: 'browser',
      target: ['chrome123', 'firefox120', 'safari17.5'],
    }),
    // As it is written: how browsers without light-dark() could do without it is nobody's business here.
    build({ ...common, entryPoints: ['style.css'] }),
  ]);
  return { script: script.outputFiles[0].text, style: style.outputFiles[0].text };
}
