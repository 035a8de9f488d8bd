// What the wrapper is asked to be.

export interface Mode {
  readonly name: string;
  /** Names without `IREE_TUNED_`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether it may make other code than stock: then programs are compared by running them. */
  readonly tunes: boolean;
  /** How much longer than stock a compile may take. */
  readonly extraSeconds: number;
}

/** Seconds of tuning per compile: enough for small contractions, and for a try at others. */
export const BUDGET_SECONDS = 4;

export const MODES: readonly Mode[] = [
  { name: 'disabled', settings: { DISABLE: '1' }, tunes: false, extraSeconds: 10 },
  { name: 'cold', settings: { BUDGET: '0' }, tunes: false, extraSeconds: 60 },
  { name: 'full', settings: { BUDGET: String(BUDGET_SECONDS) }, tunes: true, extraSeconds: 240 },
];

/** The same with another time for tuning, where it tunes. */
export const withBudget = (mode: Mode, seconds: number): Mode =>
  mode.tunes
    ? {
        ...mode,
        settings: { ...mode.settings, BUDGET: String(seconds) },
        extraSeconds: mode.extraSeconds + 3 * seconds,
      }
    : mode;
