import { Button, Group, SegmentedControl, Select } from "@mantine/core";
import { SearchField } from "@/lib/ui/SearchField";
import { DELIVERY_STATES, LOG_EVENTS, type DeliveryState, type LogFilters } from "./filters";

export function LogFilterBar({ filters, onFilters }: { filters: LogFilters; onFilters: (filters: LogFilters) => void }) {
  const filtered = Boolean(filters.state ?? filters.event ?? filters.q);
  return (
    <Group gap={8} role="search" aria-label="Filter deliveries">
      <SegmentedControl
        aria-label="Delivery state"
        value={filters.state ?? "all"}
        onChange={(value) => onFilters({ ...filters, state: value === "all" ? undefined : (value as DeliveryState) })}
        data={[{ value: "all", label: "All" }, ...DELIVERY_STATES.map((state) => ({ value: state, label: state.charAt(0).toUpperCase() + state.slice(1) }))]}
      />
      <Select aria-label="Event" placeholder="event" clearable w={170} data={[...LOG_EVENTS]} value={filters.event ?? null} onChange={(event) => onFilters({ ...filters, event: event ?? undefined })} clearButtonProps={{ "aria-label": "Clear event" }} />
      <SearchField label="About" placeholder="host, symptom, rack" width={180} value={filters.q} onValue={(q) => onFilters({ ...filters, q })} />
      {filtered && (
        <Button variant="subtle" onClick={() => onFilters({ webhook: filters.webhook })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}
