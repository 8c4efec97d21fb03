/** What the page of forecasts shows, as it stands in the URL. */
export interface ForecastFilters {
  /** Minutes; an hour unless given. */
  within?: number;
  sort?: "decline";
  declining?: true;
}

export const WITHIN_MIN = [15, 30, 60] as const;

export function parseForecastFilters(search: Record<string, unknown>): ForecastFilters {
  const found: ForecastFilters = {};
  const within = Number(search["within"]);
  if (WITHIN_MIN.some((known) => known === within) && within !== 60) found.within = within;
  if (search["sort"] === "decline") found.sort = "decline";
  if (search["declining"] === true || search["declining"] === "true") found.declining = true;
  return found;
}
