// Modes of the wrapper.

export interface Mode {
  readonly name: string;
  /** Variables without `IREE_TUNED_`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether the code may differ from stock's. The programs are then compared by running them. */
  readonly tunes: boolean;
  /** Time limit of a compile beyond stock's, in seconds. */
  readonly extraSeconds: number;
}

/** Seconds of tuning per compile: enough for small contractions. */
export const BUDGET_SECONDS = 4;

export const MODES: readonly Mode[] = [
  { name: 'disabled', settings: { DISABLE: '1' }, tunes: false, extraSeconds: 10 },
  { name: 'cold', settings: { BUDGET: '0' }, tunes: false, extraSeconds: 60 },
  { name: 'full', settings: { BUDGET: String(BUDGET_SECONDS) }, tunes: true, extraSeconds: 240 },
];

/** The mode with another tuning budget, if it tunes. */
export const withBudget = (mode: Mode, seconds: number): Mode =>
  mode.tunes
    ? {
        ...mode,
        settings: { ...mode.settings, BUDGET: String(seconds) },
        extraSeconds: mode.extraSeconds + 3 * seconds,
      }
    : mode;
