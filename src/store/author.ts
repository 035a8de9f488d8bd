// Who writes records and marks.
import { userInfo } from 'node:os';

export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user id without a name.
    return 'unknown';
  }
}
