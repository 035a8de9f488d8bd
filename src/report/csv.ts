// Writes CSV in the format of Python's csv module. Pure.

/** A line with CR LF. Quotes fields with commas, quotes or line breaks; null is an empty field. */
export const csvLine = (fields: readonly (string | number | boolean | null)[]): string =>
  `${fields.map(field).join(',')}\r\n`;

function field(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
