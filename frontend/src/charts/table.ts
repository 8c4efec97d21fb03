/** What a chart shows, as a table: for screen readers, and for download. */
export interface ChartTable {
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  // A spreadsheet would run what begins like a formula; numbers may begin with a minus.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Comma-separated values as RFC 4180 has them; a missing value is an empty cell. */
export function toCsv({ columns, rows }: ChartTable): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** `Mask lookups per packet (Q)` as part of a file's name. */
export function fileName(title: string): string {
  return (
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "chart"
  );
}
