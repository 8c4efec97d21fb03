import { isStateName } from "@/lib/states";

/** What the list of remedies shows, as it stands in the URL; `remedy` is the one that is open. */
export interface RemedySearch {
  /** A state that the catalogue lacks selects nothing. */
  state?: string;
  host?: string;
  remedy?: string;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseRemedySearch(search: Record<string, unknown>): RemedySearch {
  const { state } = search;
  const host = text(search["host"]);
  const remedy = text(search["remedy"]);
  return {
    ...(isStateName(state) ? { state } : {}),
    ...(host ? { host } : {}),
    ...(remedy ? { remedy } : {}),
  };
}
