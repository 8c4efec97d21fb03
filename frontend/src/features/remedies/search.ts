import type { RemedyState } from "@/lib/api/types";
import { isRemedyState } from "@/shared/remedies/states";

/** What the list of remedies shows, as it stands in the URL; `remedy` is the one that is open. */
export interface RemedySearch {
  state?: RemedyState;
  host?: string;
  remedy?: string;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseRemedySearch(search: Record<string, unknown>): RemedySearch {
  const state = text(search["state"]);
  const host = text(search["host"]);
  const remedy = text(search["remedy"]);
  return {
    ...(state && isRemedyState(state) ? { state } : {}),
    ...(host ? { host } : {}),
    ...(remedy ? { remedy } : {}),
  };
}
