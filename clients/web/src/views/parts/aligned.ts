// A table as text: numbers to the right, the last column as it is.

const LINES_MOST = 10_000; // what a clipboard still takes

export function aligned(rows: readonly string[][]): string {
  const shown = rows.slice(0, LINES_MOST);
  const widths: number[] = [];
  for (const row of shown)
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  const line = (row: string[]) =>
    row.map((cell, i) => (i + 1 < row.length ? cell.padStart(widths[i]) : cell)).join("  ");
  const left = rows.length - shown.length;
  return [...shown.map(line), ...(left > 0 ? [`and ${left} more`] : []), ""].join("\n");
}

/** Answers a copy event with a table, where no text is selected that would be copied otherwise. */
export function copyTable(event: ClipboardEvent, rows: () => string[][]): void {
  if (!event.clipboardData || !document.getSelection()?.isCollapsed) return;
  event.preventDefault();
  event.clipboardData.setData("text/plain", aligned(rows()));
}
