import { SegmentedControl, Text } from "@mantine/core";
import type { FleetIsolation } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import {
  type Group,
  GROUP_LABELS,
  GROUPS,
  matchingHosts,
  matchingTenants,
  matchingVfs,
  type TenantFilters,
  tenantKey,
} from "./filters";
import { HostTable } from "./HostTable";
import { TenantTable } from "./TenantTable";
import { VfBreakageTable } from "./VfBreakageTable";

interface Props {
  fleet: FleetIsolation;
  filters: TenantFilters;
  onFilters: (filters: TenantFilters) => void;
}

const NOTES: Readonly<Record<Group, string>> = {
  tenant: "a tenant is the namespace of the pod that holds a VF; seconds are summed over its VFs",
  host: "the 100 with the most; a second in which several VFs of an RNIC suffer counts once",
  victim: "the 100 VFs that suffered most; a pod that moved has a row per VF",
  aggressor: "the 100 VFs that broke the promises of others longest; a pod that moved has a row per VF",
};

/** Broken seconds by tenant, host, victim or aggressor. */
export function GroupPanel({ fleet, filters, onFilters }: Props) {
  const by = filters.by ?? "tenant";
  const onTenant = (tenant: string | null) => onFilters({ ...filters, tenant: tenantKey(tenant) });
  const rows = {
    tenant: matchingTenants(fleet.tenants, filters),
    host: matchingHosts(fleet.hosts, filters),
    victim: matchingVfs(fleet.victims, filters),
    aggressor: matchingVfs(fleet.aggressors, filters),
  };
  return (
    <Panel
      title={`By ${by}`}
      flush={rows[by].length > 0}
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Group broken seconds by"
          value={by}
          onChange={(value) => onFilters({ ...filters, by: GROUPS.find((each) => each === value) })}
          data={GROUPS.map((value) => ({ value, label: GROUP_LABELS[value] }))}
        />
      }
    >
      {rows[by].length === 0 ? (
        <Text size="sm" c="dimmed">
          {by === "host" && filters.tenant !== undefined
            ? "Hosts are not counted by tenant: clear that filter, or group by victim or aggressor"
            : `No ${by} with broken seconds matches`}
        </Text>
      ) : (
        <>
          {by === "tenant" && <TenantTable tenants={rows.tenant} onTenant={onTenant} />}
          {by === "host" && <HostTable hosts={rows.host} onHost={(host) => onFilters({ ...filters, host })} />}
          {(by === "victim" || by === "aggressor") && <VfBreakageTable role={by} vfs={rows[by]} onTenant={onTenant} />}
          <Text size="xs" c="dimmed" px={12} py={6}>
            {NOTES[by]}
          </Text>
        </>
      )}
    </Panel>
  );
}
