/** A query as the API reads it: lists are repeated, what is not set is left out. */
export function toSearchParams(query: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    if (typeof value === "object") for (const each of value) params.append(name, each);
    else params.append(name, String(value));
  }
  return params.toString();
}
