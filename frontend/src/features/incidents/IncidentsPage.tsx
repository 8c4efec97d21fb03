import { Button, Group, SegmentedControl, Select, Stack, TextInput, Title } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useSymptomChoices } from "@/lib/api/useCatalogue";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
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
  const [host, setHost] = useState(filters.host ?? "");
  useEffect(() => setHost(filters.host ?? ""), [filters.host]);
  const search = useDebouncedCallback((value: string) => onFilters({ ...filters, host: value.trim() || undefined }), 300);
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
        <TextInput
          data-focus-filter
          aria-label="Host name"
          placeholder="host name, in full  ( / )"
          w={200}
          leftSection={<IconSearch size={14} />}
          value={host}
          onChange={(event) => {
            setHost(event.currentTarget.value);
            search(event.currentTarget.value);
          }}
        />
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
      <Panel title="Newest first" flush>
        <div style={{ padding: pages.data ? 0 : 12 }}>
          <QueryState
            query={pages}
            lines={8}
            isEmpty={(data) => data.pages.every((page) => page.items.length === 0)}
            empty={
              <EmptyState title={filtered ? "No incident matches these filters" : "No incident needs anyone"}>
                {filtered ? "Clear the filters, or choose All to see resolved ones too." : "An incident opens when a symptom S1 to S8 is found on an RNIC. Choose All to see the past."}
              </EmptyState>
            }
          >
            {(data) => <IncidentTable incidents={data.pages.flatMap((page) => page.items)} />}
          </QueryState>
        </div>
      </Panel>
      {pages.hasNextPage && (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()} style={{ alignSelf: "center" }}>
          Show older incidents
        </Button>
      )}
    </Stack>
  );
}
