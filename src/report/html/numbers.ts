// Numbers of the page and its script. Pure.

/** A number with few digits, which keeps the page's data small. */
export const short = (value: number, digits = 4): number => Number(value.toPrecision(digits));

/** A gain: `1.42×`, `58.1×`, `400×`. */
export const gainText = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0)}×`;

/** A share: `58%`. */
export const percentText = (share: number): string => `${(100 * share).toFixed(0)}%`;
