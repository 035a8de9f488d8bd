// Times netron's reader of MLIR text on one file, in a process of its own:
//
//   node --conditions=source bench/shared/netron-child.ts NETRON_FOLDER FILE ROUNDS
//
// Prints JSON in the format of bench/tree-sitter.py. A pass is all of netron's work to open a file: it reads the text and builds the
// model that it shows.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PeerRun } from './peers.ts';

/** The parts of netron's modules that are used here. */
interface Netron {
  readonly ModelFactory: new () => { open(context: object): Promise<unknown> };
}
interface NetronText {
  readonly Decoder: { open(data: Uint8Array): unknown };
}

const [folder, file, rounds] = process.argv.slice(2) as [string, string, string];
const load = async (name: string): Promise<unknown> => import(pathToFileURL(join(folder, name)).href);
const { ModelFactory } = (await load('mlir.js')) as Netron;
const { Decoder } = (await load('text.js')) as NetronText;
const metadata = readFileSync(join(folder, 'mlir-metadata.json'), 'utf8');
const input = new Uint8Array(readFileSync(file));

async function open(): Promise<string | null> {
  try {
    await new ModelFactory().open({
      type: 'mlir.text',
      identifier: basename(file),
      read: () => Promise.resolve(Decoder.open(input)),
      asset: () => Promise.resolve(metadata),
    });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0]! : String(error);
  }
}

// netron reads its list of operations once, so read the list before the passes.
await new ModelFactory().open({
  type: 'mlir.text',
  identifier: 'empty.mlir',
  read: () => Promise.resolve(Decoder.open(new Uint8Array())),
  asset: () => Promise.resolve(metadata),
});
const milliseconds: number[] = [];
for (let round = 0; round <= Number(rounds); round++) {
  const start = performance.now();
  const problem = await open();
  milliseconds.push(performance.now() - start);
  console.log(JSON.stringify({ milliseconds, problem } satisfies PeerRun));
}
