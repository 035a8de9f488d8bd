// Linux's description of a machine in `/sys/devices/system`, for simulated machines.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from './folders.ts';

export interface Topology {
  readonly nodes: number;
  /** Cores of each node. */
  readonly cores: number;
  /** Hardware threads of each core. Linux numbers the first threads of all cores before the second ones. */
  readonly perCore: number;
}

/** Writes the description of a machine. @returns its folder */
export function describedTopology({ nodes, cores, perCore }: Topology): string {
  const folder = temporaryDirectory();
  const write = (path: string, text: string | number) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), `${text}\n`);
  };
  const all = nodes * cores;
  const threads = Array.from({ length: all * perCore }, (_, thread) => thread);
  const nodeOf = (thread: number) => Math.floor((thread % all) / cores);
  for (const name of ['present', 'online', 'possible']) write(`cpu/${name}`, `0-${threads.length - 1}`);
  for (const name of ['online', 'possible', 'has_cpu']) write(`node/${name}`, `0-${nodes - 1}`);
  for (const thread of threads) {
    const core = thread % all;
    const topology = `cpu/cpu${thread}/topology`;
    write(`${topology}/core_id`, core % cores);
    write(`${topology}/physical_package_id`, nodeOf(thread));
    write(`${topology}/thread_siblings_list`, threads.filter((one) => one % all === core).join());
  }
  for (let node = 0; node < nodes; node++) {
    const own = threads.filter((thread) => nodeOf(thread) === node);
    write(`node/node${node}/cpulist`, own.join());
    const mask = own.reduce((bits, thread) => bits | (1n << BigInt(thread)), 0n);
    const digits = mask.toString(16).padStart(8 * Math.ceil(threads.length / 32), '0');
    write(`node/node${node}/cpumap`, digits.match(/.{8}/g)!.join());
  }
  return folder;
}

/** The hardware threads of a machine. */
export const threadsOf = ({ nodes, cores, perCore }: Topology): Set<number> =>
  new Set(Array.from({ length: nodes * cores * perCore }, (_, thread) => thread));
