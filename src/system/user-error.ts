// Errors that are no bugs.

/** Something outside of this program went wrong. The message says to a person what, and how to mend it; no stack is shown. */
export class UserError extends Error {}
