// Reads `/proc/PID/stat` of Linux.
import { readFileSync } from 'node:fs';

/** The fields from the state on (field 3 in proc(5)); null without such a process or file. */
export function statFields(pid: number): string[] | null {
  try {
    // Field 2, the program's name, may contain any character.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
  } catch {
    return null;
  }
}
