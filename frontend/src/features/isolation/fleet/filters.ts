import type { FleetIsolation, RnicBreakage, TenantBreakage } from "@/lib/api/types";
import type { RangeName } from "@/lib/time/range";

export const FLEET_RANGES = ["1h", "24h", "7d"] as const satisfies readonly RangeName[];
export type FleetRange = (typeof FLEET_RANGES)[number];
export const DEFAULT_FLEET_RANGE: FleetRange = "24h";
export const RANGE_LABELS: Readonly<Record<FleetRange, string>> = { "1h": "Hour", "24h": "Day", "7d": "Week" };

/** What the page Tenants shows, as it stands in the URL. */
export interface TenantFilters {
  range?: FleetRange;
  host?: string;
  tenant?: string;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseTenantFilters(search: Record<string, unknown>): TenantFilters {
  const filters: TenantFilters = {
    range: FLEET_RANGES.find((range) => range === search["range"]),
    host: text(search["host"]),
    tenant: text(search["tenant"]),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as TenantFilters;
}

/** A tenant as it stands in the URL: the unknown one has no name. */
export const NO_TENANT = "-";

export function tenantKey(tenant: string | null): string {
  return tenant ?? NO_TENANT;
}

/** A tenant is part of an RNIC's breakage as victim or as aggressor. */
function concerns(rnic: RnicBreakage, tenant: string): boolean {
  return [...rnic.victims, ...rnic.aggressors].some((each) => tenantKey(each.tenant) === tenant);
}

export function matchingRnics(rnics: readonly RnicBreakage[], { host, tenant }: TenantFilters): RnicBreakage[] {
  const wanted = host?.toLowerCase();
  return rnics.filter(
    (rnic) =>
      (!wanted || `${rnic.host} ${rnic.pci}`.toLowerCase().includes(wanted)) && (!tenant || concerns(rnic, tenant)),
  );
}

export function matchingTenants(tenants: readonly TenantBreakage[], { tenant }: TenantFilters): TenantBreakage[] {
  return tenant ? tenants.filter((each) => tenantKey(each.tenant) === tenant) : [...tenants];
}

/** Nobody was promised anything, so nothing can be broken: neither classes nor rules, nor an SLO of a CNI configuration. */
export function nothingPromised(fleet: FleetIsolation, rules: number): boolean {
  return rules === 0 && fleet.unknown_s === 0 && fleet.tenants.every((tenant) => tenant.kept_share === null);
}
