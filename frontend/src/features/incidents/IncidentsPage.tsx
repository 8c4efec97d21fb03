import { Button, Group, SegmentedControl, Select, Stack, Title } from "@mantine/core";
import { useSymptomChoices } from "@/lib/api/useCatalogue";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HostField } from "@/lib/ui/HostField";
import { ListPanel } from "@/lib/ui/ListPanel";
import { STATE_FILTERS, type IncidentFilters, type StateFilter } from "./filters";
import { IncidentTable } from "./IncidentTable";
import { useIncidentPages } from "./queries";

interface Props {
  filters: IncidentFilters;
  onFilters: (filters: IncidentFilters) => void;
}

export function IncidentsPage({ filters, onFilters }: Props) {
  const pages = useIncidentPages(filters);
  const symptoms = useSymptomChoices();
  const filtered = Boolean(filters.host ?? filters.pci ?? filters.symptom ?? filters.severity);
  return (
    <Stack gap={12}>
      <Title order={1}>Incidents</Title>
      <Group gap={8} role="search" aria-label="Filter incidents">
        <SegmentedControl
          aria-label="State"
          value={filters.state ?? "active"}
          onChange={(value) => onFilters({ ...filters, state: value === "active" ? undefined : (value as StateFilter) })}
          data={STATE_FILTERS.map((name) => ({ value: name, label: name.charAt(0).toUpperCase() + name.slice(1) }))}
        />
        <HostField host={filters.host} onHost={(host) => onFilters({ ...filters, host })} />
        <Select aria-label="Symptom" placeholder="symptom" clearable w={250} data={symptoms} value={filters.symptom ?? null} onChange={(value) => onFilters({ ...filters, symptom: value ?? undefined })} clearButtonProps={{ "aria-label": "Clear symptom" }} />
        <Select
          aria-label="Severity"
          placeholder="severity"
          clearable
          w={130}
          data={["critical", "warning"]}
          value={filters.severity ?? null}
          onChange={(value) => onFilters({ ...filters, severity: value === "critical" || value === "warning" ? value : undefined })}
          clearButtonProps={{ "aria-label": "Clear severity" }}
        />
        {filtered && (
          <Button variant="subtle" onClick={() => onFilters({ state: filters.state })}>
            Clear filters
          </Button>
        )}
      </Group>
      <ListPanel
        title="Newest first"
        pages={pages}
        empty={
          <EmptyState title={filtered ? "No incident matches these filters" : "No incident needs anyone"}>
            {filtered ? "Clear the filters, or choose All to see resolved ones too." : "An incident opens when a symptom S1 to S8 is found on an RNIC. Choose All to see the past."}
          </EmptyState>
        }
        moreLabel="Show older incidents"
      >
        {(incidents) => <IncidentTable incidents={incidents} />}
      </ListPanel>
    </Stack>
  );
}
