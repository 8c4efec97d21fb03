/** What a link to the start form may choose. */
export interface NewCampaignSearch {
  device?: string;
  /** Varies only the parameters in which this cause shows. */
  cause?: string;
  incident?: string;
}

export interface LabFilters {
  device?: string;
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

export function parseNewCampaignSearch(raw: Record<string, unknown>): NewCampaignSearch {
  const found: NewCampaignSearch = {};
  const device = text(raw["device"]);
  const cause = text(raw["cause"]);
  const incident = text(raw["incident"]);
  if (device) found.device = device;
  if (cause && /^C\d{1,2}$/.test(cause)) found.cause = cause;
  if (incident && /^[0-9a-f-]{36}$/.test(incident)) found.incident = incident;
  return found;
}

export function parseLabFilters(raw: Record<string, unknown>): LabFilters {
  const device = text(raw["device"]);
  return device ? { device } : {};
}
