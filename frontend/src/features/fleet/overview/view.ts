import { type FleetFilters, parseFilters } from "@/shared/fleet/filters";

export const GROUPS = [
  { value: "rack", label: "Rack" },
  { value: "model", label: "Model" },
  { value: "firmware", label: "Firmware" },
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
}

export type FleetSearch = FleetFilters & FleetView;

export function parseView(search: Record<string, unknown>): FleetView {
  const group = GROUPS.find(({ value }) => value === search["group"] && value !== "rack")?.value;
  const { colour } = search;
  const known =
    typeof colour === "string" && (/^limit:[a-z_]+$/.test(colour) || RATES.some(({ value }) => value === colour));
  return {
    ...(group ? { group } : {}),
    ...(known ? { colour } : {}),
    ...(search["order"] === "sick" ? { order: "sick" } : {}),
  };
}

export function parseFleetSearch(search: Record<string, unknown>): FleetSearch {
  return { ...parseFilters(search), ...parseView(search) };
}

/** Colours by the function of a card that is closest to its SLA: a limit that the live fleet does not know. */
export const CONTENTION = "contention";

/** The limit by which tiles are coloured; null for the nearest, and for rates. */
export function limitOf(view: FleetView): string | null {
  return view.colour?.startsWith("limit:") ? view.colour.slice("limit:".length) : null;
}
