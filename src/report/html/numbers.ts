// Numbers as text, for the page and its script. Pure.

/** A gain: `1.42×`, `58.1×`, `400×`. */
export const gainText = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0)}×`;

/** `12`, `10,000`. */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** `1 record`, `10,000 records`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
