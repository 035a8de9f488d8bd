// Errors that are not bugs.

/** A problem outside this program. The message names the problem and the way out. It is shown without a stack. */
export class UserError extends Error {}
