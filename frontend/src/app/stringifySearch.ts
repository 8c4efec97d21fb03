/** The URL is part of the product: `?symptom=S1,S6` rather than JSON in quotes. */
export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(
    (pair): pair is [string, string | number] => pair[1] !== undefined && pair[1] !== null && pair[1] !== "",
  );
  const text = pairs
    .map(
      ([key, value]) =>
        `${encodeURIComponent(key)}=${encodeURIComponent(String(value)).replaceAll("%2C", ",").replaceAll("%3A", ":")}`,
    )
    .join("&");
  return text ? `?${text}` : "";
}
