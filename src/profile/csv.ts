// Comma-separated values as Python's csv module writes them, so that whatever reads its files reads these. Pure.

/** A line with its end. Fields with commas, quotes or line breaks are quoted; null is an empty field. */
export const csvLine = (fields: readonly (string | number | boolean | null)[]): string =>
  `${fields.map(field).join(',')}\r\n`;

function field(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
