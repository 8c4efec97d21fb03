/** The incident list's filters as they stand in the URL. */
export interface IncidentFilters {
  state?: StateFilter;
  host?: string;
  pci?: string;
  symptom?: string;
  severity?: "warning" | "critical";
}

/** `active` is open and acknowledged together: what still needs someone. It is the default. */
export const STATE_FILTERS = ["active", "open", "acknowledged", "resolved", "all"] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseIncidentFilters(search: Record<string, unknown>): IncidentFilters {
  const filters: IncidentFilters = {};
  const state = STATE_FILTERS.find((name) => name === search["state"]);
  if (state && state !== "active") filters.state = state;
  const host = text(search["host"]);
  if (host) filters.host = host;
  const pci = text(search["pci"]);
  if (pci) filters.pci = pci;
  const symptom = text(search["symptom"]);
  if (symptom && /^S[1-8]$/.test(symptom)) filters.symptom = symptom;
  const severity = search["severity"];
  if (severity === "warning" || severity === "critical") filters.severity = severity;
  return filters;
}

export function statesOf(filter: StateFilter | undefined): ("open" | "acknowledged" | "resolved")[] | undefined {
  if (filter === "all") return undefined;
  if (filter === undefined || filter === "active") return ["open", "acknowledged"];
  return [filter];
}
