// A finding of the doctor about one thing.

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
  /** How to fix the problem; null without a problem. */
  readonly remedy: string | null;
}

export const finding = (what: string, found: string, remedy: string | null = null): Finding => ({
  ...{ what, ok: remedy === null, found, remedy },
});
