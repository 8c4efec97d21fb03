import type { FleetIsolation, HostBreakage, RnicBreakage, TenantBreakage, VfBreakage } from "@/lib/api/types";
import type { RangeName } from "@/lib/time/range";

export const FLEET_RANGES = ["1h", "24h", "7d"] as const satisfies readonly RangeName[];
export type FleetRange = (typeof FLEET_RANGES)[number];
export const DEFAULT_FLEET_RANGE: FleetRange = "24h";
export const RANGE_LABELS: Readonly<Record<FleetRange, string>> = { "1h": "Hour", "24h": "Day", "7d": "Week" };

export const GROUPS = ["tenant", "host", "victim", "aggressor"] as const;
export type Group = (typeof GROUPS)[number];
export const GROUP_LABELS: Readonly<Record<Group, string>> = {
  tenant: "Tenant",
  host: "Host",
  victim: "Victim",
  aggressor: "Aggressor",
};

/** What the page Tenants shows, as it stands in the URL. */
export interface TenantFilters {
  range?: FleetRange;
  host?: string;
  tenant?: string;
  by?: Group;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseTenantFilters(search: Record<string, unknown>): TenantFilters {
  const filters: TenantFilters = {
    range: FLEET_RANGES.find((range) => range === search["range"]),
    host: text(search["host"]),
    tenant: text(search["tenant"]),
    by: GROUPS.find((group) => group === search["by"]),
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

/** Seconds of a host are not split by tenant, so a filter of tenants leaves none. */
export function matchingHosts(hosts: readonly HostBreakage[], { host, tenant }: TenantFilters): HostBreakage[] {
  const wanted = host?.toLowerCase();
  return tenant ? [] : hosts.filter((each) => !wanted || each.host.toLowerCase().includes(wanted));
}

export function matchingVfs(vfs: readonly VfBreakage[], { host, tenant }: TenantFilters): VfBreakage[] {
  const wanted = host?.toLowerCase();
  return vfs.filter(
    (vf) =>
      (!wanted || `${vf.host} ${vf.pci}`.toLowerCase().includes(wanted)) &&
      (!tenant || tenantKey(vf.tenant) === tenant),
  );
}

/** Nobody was promised anything, so nothing can be broken: neither classes nor rules, nor an SLO of a CNI configuration. */
export function nothingPromised(fleet: FleetIsolation, rules: number): boolean {
  return rules === 0 && fleet.unknown_s === 0 && fleet.tenants.every((tenant) => tenant.kept_share === null);
}
