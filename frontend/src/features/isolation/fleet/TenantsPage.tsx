import { Button, Group, SegmentedControl, Select, Stack } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { distinct } from "@/lib/distinct";
import { plural } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { SearchField } from "@/lib/ui/SearchField";
import { useFleetIsolation } from "../queries";
import { useSloRules } from "../slo/queries";
import { TenantsHeader } from "../TenantsHeader";
import {
  DEFAULT_FLEET_RANGE,
  FLEET_RANGES,
  type FleetRange,
  matchingRnics,
  nothingPromised,
  RANGE_LABELS,
  type TenantFilters,
} from "./filters";
import { FleetFigures } from "./FleetFigures";
import { GroupPanel } from "./GroupPanel";
import { NothingBroken } from "./NothingBroken";
import { RnicTable } from "./RnicTable";

interface Props {
  filters: TenantFilters;
  onFilters: (filters: TenantFilters) => void;
}

/** Whose promises were broken, where and by whom, over the fleet. */
export function TenantsPage({ filters, onFilters }: Props) {
  const range = filters.range ?? DEFAULT_FLEET_RANGE;
  const fleet = useFleetIsolation(range);
  const rules = useSloRules();
  const tenants = distinct(fleet.data?.tenants.map((each) => each.tenant) ?? []);
  const rnics = fleet.data && matchingRnics(fleet.data.rnics, filters);
  // While the rules are unknown, nothing is said about them.
  const unpromised = fleet.data !== undefined && nothingPromised(fleet.data, rules.data?.rules.length ?? 1);
  const filtered = filters.host !== undefined || filters.tenant !== undefined;
  return (
    <Stack gap={12}>
      <TenantsHeader />
      <Group gap={8} role="search" aria-label="Filter broken promises">
        <SegmentedControl
          aria-label="Time range"
          value={range}
          onChange={(value) => onFilters({ ...filters, range: FLEET_RANGES.find((each) => each === value) })}
          data={FLEET_RANGES.map((value: FleetRange) => ({ value, label: RANGE_LABELS[value] }))}
        />
        <SearchField
          first
          label="Search hosts"
          placeholder="Host or PCI address  ( / )"
          width={200}
          icon={<IconSearch size={14} />}
          value={filters.host}
          onValue={(host) => onFilters({ ...filters, host })}
        />
        <Select
          aria-label="Tenant"
          placeholder="Any tenant"
          searchable
          clearable
          w={180}
          value={filters.tenant ?? null}
          onChange={(tenant) => onFilters({ ...filters, tenant: tenant ?? undefined })}
          data={tenants}
        />
        {filtered && (
          <Button variant="subtle" onClick={() => onFilters({ range: filters.range, by: filters.by })}>
            Clear filters
          </Button>
        )}
      </Group>
      {fleet.error && !fleet.data ? (
        <ProblemNotice error={fleet.error} onRetry={() => void fleet.refetch()} />
      ) : (
        <>
          {fleet.data && !unpromised && <FleetFigures fleet={fleet.data} />}
          <Panel
            title="RNICs with broken promises"
            flush={Boolean(rnics?.length)}
            aside={
              fleet.data && rnics && rnics.length > 0 ? (
                <Shown shown={rnics.length} total={fleet.data.rnics_total} />
              ) : undefined
            }
          >
            <QueryState
              query={{ ...fleet, data: rnics }}
              lines={8}
              isEmpty={(items) => items.length === 0}
              empty={
                <NothingBroken
                  range={range}
                  filtered={filtered && (fleet.data?.rnics.length ?? 0) > 0}
                  unlisted={fleet.data ? fleet.data.rnics_total - fleet.data.rnics.length : 0}
                  unpromised={unpromised}
                />
              }
            >
              {(items) => <RnicTable rnics={items} />}
            </QueryState>
          </Panel>
          {fleet.data && fleet.data.tenants.length > 0 && (
            <GroupPanel fleet={fleet.data} filters={filters} onFilters={onFilters} />
          )}
        </>
      )}
    </Stack>
  );
}

const DIM = { fontSize: "0.75rem", color: "var(--ww-dim)" };

function Shown({ shown, total }: { shown: number; total: number }) {
  return <span style={DIM}>{`${shown.toLocaleString("en")} of ${plural(total, "RNIC")}, worst first`}</span>;
}
