// All processes of a run share Node's compile cache. Otherwise each test compiles the bundles again for its empty cache folder, and commands
// of sources remove their types again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-test-'));
  process.env['NODE_COMPILE_CACHE'] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
