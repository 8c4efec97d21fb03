import { type FleetFilters, parseFilters } from "@/shared/fleet/filters";

export const GROUPS = [
  { value: "rack", label: "Rack" },
  { value: "model", label: "Model" },
  { value: "firmware", label: "Firmware" },
  { value: "tenant", label: "Tenant" },
] as const;
export type FleetGroup = (typeof GROUPS)[number]["value"];

export const RATES = [
  { value: "tx_gbps", label: "Sent" },
  { value: "rx_gbps", label: "Received" },
] as const;
export type FleetRate = (typeof RATES)[number]["value"];

/** How the fleet is drawn, as it stands in the URL; what is missing is the default: by rack and name, coloured by the nearest limit. */
export interface FleetView {
  group?: FleetGroup;
  /** A rate, or `limit:` with the id of a limit. */
  colour?: string;
  order?: "sick";
  /** The minute that is replayed, in UTC: `2026-11-26T21:34Z`; missing: now. */
  at?: string;
}

export type FleetSearch = FleetFilters & FleetView;

const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$/;

export function parseView(search: Record<string, unknown>): FleetView {
  const group = GROUPS.find(({ value }) => value === search["group"] && value !== "rack")?.value;
  const { colour } = search;
  const known =
    typeof colour === "string" && (/^limit:[a-z_]+$/.test(colour) || RATES.some(({ value }) => value === colour));
  return {
    ...(group ? { group } : {}),
    ...(known ? { colour } : {}),
    ...(search["order"] === "sick" ? { order: "sick" } : {}),
    ...(typeof search["at"] === "string" && MINUTE.test(search["at"]) && !Number.isNaN(Date.parse(search["at"]))
      ? { at: search["at"] }
      : {}),
  };
}

export function parseFleetSearch(search: Record<string, unknown>): FleetSearch {
  return { ...parseFilters(search), ...parseView(search) };
}

/** Colours by the function of a card that is closest to its SLA: a limit that the live fleet does not know. */
export const CONTENTION = "contention";

/** What tiles can be coloured by besides the nearest limit and rates. */
export function limitsOf(walls: readonly { id: string; label: string }[]) {
  return [...walls.map(({ id, label }) => ({ id, label })), { id: CONTENTION, label: "SLAs of network functions" }];
}

/** The limit by which tiles are coloured; null for the nearest, and for rates. */
export function limitOf(view: FleetView): string | null {
  return view.colour?.startsWith("limit:") ? view.colour.slice("limit:".length) : null;
}

/** The same where it is a wall, which the store has the history of. */
export function wallOf(view: FleetView): string | null {
  const limit = limitOf(view);
  return limit === CONTENTION ? null : limit;
}
