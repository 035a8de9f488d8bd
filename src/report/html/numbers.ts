// Numbers as text, for the page and its script. Pure.

/** A gain: `1.42×`, `58.1×`, `400×`. */
export const gainText = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0)}×`;
