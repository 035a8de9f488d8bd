// Owners of temporary files.
import { owner } from '../../src/system/temporary-files.ts';

/** A dead process of this machine, as names of temporary files have it: its process id has another start time now. */
export const deadOwner = (): string => owner().replace(/\d+$/, '1');
