/** The result of an action; another value if the action throws. */
export function resultOr<T, Otherwise = T>(action: () => T, otherwise: Otherwise): T | Otherwise {
  try {
    return action();
  } catch {
    return otherwise;
  }
}
