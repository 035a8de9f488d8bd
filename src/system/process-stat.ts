// What Linux says of a process in one line.
import { readFileSync } from 'node:fs';

/** The fields of `/proc/PID/stat` from its state on (field 3 in proc(5)); null when there is no such process, or no such file. */
export function statFields(pid: number): string[] | null {
  try {
    // The name of the program may hold anything; the fields are counted from behind it.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
  } catch {
    return null;
  }
}
