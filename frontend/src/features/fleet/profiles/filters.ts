/** A profile's page, as it stands in the URL: which quantity is drawn, which version is read, and with which one it is compared. */
export interface ProfileSearch {
  quantity?: "latency";
  version?: number;
  compare?: number;
}

function whole(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 ? number : undefined;
}

export function parseProfileSearch(search: Record<string, unknown>): ProfileSearch {
  const found: ProfileSearch = { version: whole(search["version"]), compare: whole(search["compare"]) };
  if (search["quantity"] === "latency") found.quantity = "latency";
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as ProfileSearch;
}
