/** What the page of silences shows, as it stands in the URL. */
export interface SilenceFilters {
  state?: "active" | "pending" | "expired";
}

export function parseSilenceFilters(search: Record<string, unknown>): SilenceFilters {
  const state = search["state"];
  return state === "active" || state === "pending" || state === "expired" ? { state } : {};
}
