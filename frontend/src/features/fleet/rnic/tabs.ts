import { parseRange, type RangeSearch } from "@/lib/time/range";
import { parseVfView, type VfView } from "../vfs/vfView";

export const RNIC_TABS = [
  { tab: "overview", label: "Overview" },
  { tab: "flows", label: "Flows & masks" },
  { tab: "vfs", label: "VFs" },
  { tab: "policies", label: "Policies" },
  { tab: "forecast", label: "Forecast" },
  { tab: "hardware", label: "Hardware" },
] as const;
export type RnicTab = (typeof RNIC_TABS)[number]["tab"];

/** As many fields as one request of the API takes. */
export const MOST_FIELDS = 20;

/** In the URL: nothing is chosen, which is not the same as the fields that the tab begins with. */
export const NO_FIELDS = "none";

/** The page of an RNIC as it stands in the URL; the overview is the tab of a bare address. */
export interface RnicSearch extends RangeSearch, VfView {
  tab?: RnicTab;
  /** Of the tab Hardware: fields by `measurement.name`, separated by commas. */
  fields?: string;
}

export function parseRnicSearch(search: Record<string, unknown>): RnicSearch {
  const tab = RNIC_TABS.find((each) => each.tab === search["tab"])?.tab;
  const fields = search["fields"] === NO_FIELDS ? NO_FIELDS : toFields(search["fields"]).join();
  return {
    ...parseRange(search),
    ...parseVfView(search),
    ...(tab && tab !== "overview" ? { tab } : {}),
    ...(fields ? { fields } : {}),
  };
}

export function toFields(value: unknown): string[] {
  if (typeof value !== "string") return [];
  const named = value.split(",").filter((name) => /^[a-z_]+\.[A-Za-z0-9_]+$/.test(name));
  return [...new Set(named)].slice(0, MOST_FIELDS);
}
