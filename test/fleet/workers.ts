// Starts workers as processes (child.ts), and reads their notes.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openQueue } from '../../src/fleet/queue.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { NODE_CODE } from '../support/node-code.ts';
import type { TestServer } from '../support/postgres.ts';
import { databaseOf, fleetDatabase, jobOf, PLACE } from './support.ts';

export interface Note {
  readonly at: number;
  readonly worker: string;
  readonly deed: 'begins' | 'ends' | 'met' | 'says';
  readonly what: string;
}

/** A server with jobs, and workers for them. */
export async function fleetOf(server: TestServer, jobs: number) {
  const database = await fleetDatabase(server);
  const folder = temporaryDirectory();
  const { url } = database;
  const queue = await openQueue(databaseOf(url), PLACE);
  await queue.submit(Array.from({ length: jobs }, (_, m) => jobOf(m + 1)));
  await queue.close();
  const notes = (): Note[] => {
    let text: string;
    try {
      text = readFileSync(join(folder, 'notes'), 'utf8');
    } catch {
      return [];
    }
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const [at = '', worker = '', deed = '', what = ''] = line.split('\t');
        return { at: Number(at), worker, deed: deed as Note['deed'], what };
      });
  };
  const start = (name: string, { untilIdle = false, drain = 20 } = {}) => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=source',
        join(import.meta.dirname, 'child.ts'),
        ...[url, name, folder, String(untilIdle), String(drain)],
      ],
      { env: { ...process.env, ...NODE_CODE }, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
      child.on('close', (code, signal) => {
        resolve(code ?? signal);
      }),
    );
    return { child, ended };
  };
  const until = async (condition: (all: readonly Note[]) => boolean) => {
    while (!condition(notes())) await sleep(50);
  };
  const hold = (name: string) => {
    writeFileSync(join(folder, `hold-${name}`), '');
    return () => {
      rmSync(join(folder, `hold-${name}`));
    };
  };
  return { database, url, folder, notes, start, until, hold };
}

export const endsOf = (all: readonly Note[]) => all.filter(({ deed }) => deed === 'ends');

/** Overlapping pairs of measurements on one machine. The measurement of a killed worker ends with the kill. */
export function overlaps(all: readonly Note[], killed: Readonly<Record<string, number>> = {}): string[] {
  const found: string[] = [];
  const open = new Map<string, Note>();
  for (const note of all.toSorted((a, b) => a.at - b.at)) {
    const machine = note.worker[0]!;
    const before = open.get(machine);
    if (note.deed === 'met') found.push(`${note.worker} met somebody`);
    if (note.deed === 'begins') {
      if (before !== undefined && !(killed[before.worker]! <= note.at))
        found.push(`${note.worker} began beside ${before.worker}`);
      open.set(machine, note);
    }
    if (note.deed === 'ends' && before?.worker === note.worker) open.delete(machine);
  }
  return found;
}
