// The work for the bases of a build, which a process of its own does: see `entry.ts`.
import { baseText, type BaseAddress } from '../settings/address.ts';
import type { Settings } from '../settings/settings.ts';
import { messageOf } from '../system/tell.ts';
import { folderOf, lastCheck, noteCheck } from './installed.ts';
import { sendToInbox } from './inbox.ts';
import { publish } from './publish.ts';
import { refresh, type Refresh } from './refresh.ts';

export interface Job extends Omit<Refresh, 'address'> {
  readonly addresses: readonly BaseAddress[];
  /** Database whose new records go to the inbox; absent for none. */
  readonly sent?: string;
  /** The setting: author of these records. */
  readonly author?: string | undefined;
  readonly publish: Settings['publish'];
}

/** Sends new records, then brings the bases up to date. The last check of each keeps its problem. */
export async function runJob({ addresses, sent, author, publish: how, ...job }: Job): Promise<void> {
  for (const address of addresses) {
    const { cacheDirectory, key } = job;
    const folder = folderOf(cacheDirectory, address);
    let problem: string | null = null;
    try {
      if (sent !== undefined && how !== 'off') {
        await sendToInbox(address, { database: sent, author }, folder, job);
        // A signed base is published with its private key only.
        if (how === 'now' && address.kind === 'folder' && key === undefined)
          await publish({ folder: address.path, cacheDirectory });
      }
    } catch (error) {
      problem = `${baseText(address)}: ${messageOf(error)}`;
    }
    const late = await refresh({ ...job, address });
    if (problem === null || late !== null) continue;
    noteCheck(folder, { ...lastCheck(folder)!, problem });
  }
}
