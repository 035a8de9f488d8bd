// Reads `/proc/PID/stat` of Linux.
import { readFileSync } from 'node:fs';
import { resultOr } from './result-or.ts';

/** The fields from the state on (field 3 in proc(5)); null without such a process or file. */
export const statFields = (pid: number): string[] | null =>
  resultOr(
    // Field 2, the program's name, may contain any character.
    () => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' '),
    null,
  );

/** Start time of a process in ticks; null if unknown. */
export const startOf = (pid: number): string | null => statFields(pid)?.[19] ?? null;
