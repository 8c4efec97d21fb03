import { find, isStateName, type StateNames, type StateTable, unfinished } from "@/lib/states";
import { isSymptom } from "@/lib/symptoms";
export const SCOPES = ["rnic", "host", "rack", "fleet"] as const;
export type Scope = (typeof SCOPES)[number];
export const SORTS = ["opened_at", "updated_at", "severity"] as const;
export type Sort = (typeof SORTS)[number];
/** What the list can be grouped by, in the words of the choice. */
export const GROUPINGS = {
  host: "Host",
  rack: "Rack",
  symptom: "Symptom",
  model: "Model",
  tenant: "Tenant",
  assignee: "Assignee",
} as const;
export type Grouping = keyof typeof GROUPINGS;

type IncidentStates = StateTable<StateNames["incident"]>;

/** The incident list's filters as they stand in the URL; `symptom` is a list with commas. */
export interface IncidentFilters {
  /** A state of the catalogue, `all`, or `unresolved`: what may still need someone, the default. */
  state?: string;
  severity?: "warning" | "critical";
  symptom?: string;
  cause?: string;
  scope?: Scope;
  rack?: string;
  host?: string;
  pci?: string;
  model?: string;
  fw_ver?: string;
  assignee?: string;
  /** Assigned to nobody who can sign in. */
  unassigned?: "yes";
  suppressed_by?: string;
  inhibited_by?: string;
  /** Whether a symptom is present now. */
  active?: "yes" | "no";
  q?: string;
  sort?: Sort;
  order?: "asc" | "desc";
  group?: Grouping;
}

const TEXTS = ["rack", "host", "pci", "model", "fw_ver", "assignee", "suppressed_by", "inhibited_by", "q"] as const;

function text(value: unknown): string | undefined {
  return (typeof value === "string" || typeof value === "number") && String(value).trim()
    ? String(value).trim()
    : undefined;
}

function oneOf<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

function dropUndefined(filters: IncidentFilters): IncidentFilters {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as IncidentFilters;
}

export function symptomsOf(filters: Pick<IncidentFilters, "symptom">): string[] {
  return (filters.symptom ?? "").split(",").filter(isSymptom);
}

/** Whatever a hand-written link holds becomes filters; what can't be one is left out. The defaults are not written. */
export function parseIncidentFilters(search: Record<string, unknown>): IncidentFilters {
  const state = isStateName(search["state"]) ? search["state"] : undefined;
  const sort = oneOf(search["sort"], SORTS);
  const order = oneOf(search["order"], ["asc", "desc"] as const);
  const cause = text(search["cause"]);
  const filters: IncidentFilters = {
    state: state === "unresolved" ? undefined : state,
    severity: oneOf(search["severity"], ["warning", "critical"] as const),
    symptom: symptomsOf({ symptom: text(search["symptom"]) }).join(",") || undefined,
    cause: cause && /^C[1-8]$/.test(cause) ? cause : undefined,
    scope: oneOf(search["scope"], SCOPES),
    active: oneOf(search["active"], ["yes", "no"] as const),
    unassigned: oneOf(search["unassigned"], ["yes"] as const),
    sort: sort === "opened_at" ? undefined : sort,
    order: order === "desc" ? undefined : order,
    group: oneOf(search["group"], Object.keys(GROUPINGS) as Grouping[]),
  };
  for (const key of TEXTS) filters[key] = text(search[key]);
  return dropUndefined(filters);
}

/** Whether anything but state and order is filtered. */
export function isFiltered(filters: IncidentFilters): boolean {
  return Object.keys(filters).some((key) => !["state", "sort", "order", "group"].includes(key));
}

/** The choice of states that a filter is; one that the table lacks is the default. */
export function stateChoice(table: IncidentStates, filter: string | undefined): string {
  return filter === "all" ? filter : (find(table, filter)?.name ?? "unresolved");
}

/** The states that a filter selects; undefined for all. */
export function statesOf(table: IncidentStates, filter: string | undefined): StateNames["incident"][] | undefined {
  if (filter === "all") return undefined;
  const state = find(table, filter);
  return state ? [state.name] : unfinished(table);
}

/** The filters as the API takes them; `me` is the reader. */
export function toQuery(filters: IncidentFilters, me: string | undefined, table: IncidentStates) {
  const { severity, cause, scope, rack, host, pci, model, fw_ver, suppressed_by, inhibited_by, q } = filters;
  const symptoms = symptomsOf(filters);
  return {
    severity,
    cause,
    scope,
    rack,
    host,
    pci,
    model,
    fw_ver,
    suppressed_by,
    inhibited_by,
    q,
    state: statesOf(table, filters.state),
    symptom: symptoms.length > 0 ? symptoms : undefined,
    assignee: filters.assignee === "me" ? me : filters.assignee,
    unassigned: filters.unassigned === "yes" || undefined,
    active: filters.active === undefined ? undefined : filters.active === "yes",
  };
}

/** The search part of the page's address, as a saved view keeps it. */
export function toSearch(filters: IncidentFilters): string {
  return new URLSearchParams(Object.entries(dropUndefined(filters))).toString();
}

export function fromSearch(search: string): IncidentFilters {
  return parseIncidentFilters(Object.fromEntries(new URLSearchParams(search)));
}
