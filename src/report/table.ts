// Plain text tables.

/** Columns as wide as their widest cell, two spaces apart; columns whose cells are all numbers are right-aligned. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const isNumeric = header.map((_, column) =>
    rows.every((row) => /^[-+]?[\d.,]+(?:x| ?%| ?[num]?s| GB\/s)?$|^-$/.test(row[column] ?? '')),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
