// Other readers of MLIR text, netron and tree-sitter-mlir, from a Python environment inside the checkout.
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { BenchError, say } from './arguments.ts';
import { openPython } from './python.ts';
import { lastLine, root } from './workplace.ts';

export const PEERS = ['netron', 'tree-sitter'] as const;
export type Peer = (typeof PEERS)[number];

/** Result of one peer on one file. */
export interface PeerRun {
  /** Times of the completed passes. */
  readonly milliseconds: readonly number[];
  /** Why the peer did not read the whole file; null if it did. */
  readonly problem: string | null;
}

export interface Peers {
  readonly versions: Readonly<Record<Peer | 'tree-sitter-mlir', string>>;
  /** Reads a file once, and then up to `rounds` more times. */
  time(peer: Peer, file: string, rounds: number): Promise<PeerRun>;
}

/** Time limit for one reader on one file, all rounds together. */
export const LIMIT_SECONDS = 30;

/** The problem that bench/tree-sitter.py reports if tree-sitter read the whole text with errors. */
export const TREE_ERRORS = 'errors in its tree';

const requirements = join(root, 'bench', 'requirements-peers.txt');

/** Installs the peers if they are missing. If that fails, prints a message and returns null. */
export async function openPeers(): Promise<Peers | null> {
  let python: string;
  try {
    python = await openPython('.venv-peers', requirements, 'netron and tree-sitter-mlir');
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    say(`${error.message}\nTheir columns are "-".`);
    return null;
  }
  const about = await execa(python, ['-c', ABOUT], { reject: false, stdin: 'ignore' });
  if (about.exitCode !== 0) {
    say(`netron and tree-sitter-mlir do not work here (${lastLine(about)}): their columns are "-".`);
    return null;
  }
  const { versions, netron } = JSON.parse(about.stdout) as { versions: Peers['versions']; netron: string };
  return {
    versions,
    time(peer, file, rounds) {
      if (peer === 'tree-sitter') {
        const script = join(root, 'bench', 'tree-sitter.py');
        return runPeer(python, [script, file, String(rounds)]);
      }
      const child = join(import.meta.dirname, 'netron-child.ts');
      return runPeer(process.execPath, ['--conditions=source', child, dirname(netron), file, String(rounds)]);
    },
  };
}

const ABOUT = `
import importlib.metadata, importlib.util, json
versions = {name: importlib.metadata.version(name) for name in ("netron", "tree-sitter", "tree-sitter-mlir")}
print(json.dumps({"versions": versions, "netron": importlib.util.find_spec("netron").origin}))`;

/** A peer prints a line after each pass, and the last complete line counts. */
async function runPeer(file: string, argv: string[]): Promise<PeerRun> {
  const result = await execa(file, argv, {
    ...{ reject: false, stdin: 'ignore', timeout: LIMIT_SECONDS * 1000, forceKillAfterDelay: 1000 },
  });
  const lines = result.stdout.split('\n').filter((line) => line.endsWith('}'));
  const last = lines.at(-1);
  if (last !== undefined) return JSON.parse(last) as PeerRun;
  const problem = result.timedOut
    ? `longer than ${LIMIT_SECONDS} s`
    : result.signal !== undefined
      ? `it died of ${result.signal}`
      : lastLine(result);
  return { milliseconds: [], problem };
}
