/** `max_idle_ms 60000 · flow_limit 200000`: parameters for reading. */
export function paramsText(params: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return pairs.length > 0 ? pairs.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(" · ") : "no parameters";
}

/** A value before or after an operation; an absent one is said to be so. */
export function operand(value: unknown): string {
  if (value === null || value === undefined || value === "") return "not set";
  return typeof value === "string" ? value : JSON.stringify(value);
}
