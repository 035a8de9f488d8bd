// Bundles the script and the style sheet of report pages.
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = join(import.meta.dirname, '../src/report/html/page');

/** Returns both texts. */
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
    // No target, because esbuild would lower light-dark().
    build({ ...common, entryPoints: ['style.css'] }),
  ]);
  return { script: script.outputFiles[0].text, style: style.outputFiles[0].text };
}
