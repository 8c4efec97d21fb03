/** What the page of forecasts shows, as it stands in the URL. */
export interface ForecastFilters {
  /** Minutes; an hour unless given. */
  within?: number;
  sort?: "decline";
  declining?: true;
  wall?: string;
  rack?: string;
  model?: string;
}

export const WITHIN_MIN = [15, 30, 60] as const;
const TEXTS = ["wall", "rack", "model"] as const;

export function parseForecastFilters(search: Record<string, unknown>): ForecastFilters {
  const found: ForecastFilters = {};
  const within = Number(search["within"]);
  if (WITHIN_MIN.some((known) => known === within) && within !== 60) found.within = within;
  if (search["sort"] === "decline") found.sort = "decline";
  if (search["declining"] === true || search["declining"] === "true") found.declining = true;
  for (const name of TEXTS) {
    const value = search[name];
    // A rack may be a bare number, which the URL gives as one.
    if ((typeof value === "string" || typeof value === "number") && value !== "") found[name] = String(value);
  }
  return found;
}

export function isFiltered({ declining, wall, rack, model }: ForecastFilters): boolean {
  return declining !== undefined || wall !== undefined || rack !== undefined || model !== undefined;
}
