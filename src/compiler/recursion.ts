// The wrapper is called "iree-compile" by build systems, and so is what it calls. When both ends find each
// other again the machine fills with processes; a counter in the environment ends that.

type Environment = Readonly<Record<string, string | undefined>>;

/** How many wrappers deep this process is, as its environment says; 0 for a user's own call. */
const depthVariable = 'IREE_TUNED_DEPTH';

/** One wrapper inside another is legitimate (a compiler's own helper commands may compile); more is a circle. */
const deepest = 2;

/** The wrapper was started by itself, by way of whatever it takes for the real compiler. */
export class RecursionError extends Error {
  override readonly name = 'RecursionError';
}

/** Throws a {@link RecursionError} when the environment says that wrappers are calling each other. */
export function refuseRecursion(env: Environment): void {
  if (depthOf(env) < deepest) return;
  throw new RecursionError(
    'iree-compile-tuned: the real iree-compile that was found calls iree-compile-tuned again.\n' +
      'Set IREE_TUNED_COMPILER to the path of the real one.',
  );
}

/** The environment for a child of the wrapper: the same, one level deeper. */
export function childEnvironment(env: Environment): Record<string, string | undefined> {
  return { ...env, [depthVariable]: String(depthOf(env) + 1) };
}

function depthOf(env: Environment): number {
  const depth = Number(env[depthVariable] ?? 0);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}
