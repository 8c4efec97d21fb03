const collator = new Intl.Collator("en", { numeric: true });

/** What a column has, each value once, as people sort it: r2 before r10. */
export function distinct(values: readonly (string | null)[]): string[] {
  return [...new Set(values.filter((value): value is string => Boolean(value)))].sort(collator.compare);
}
