import { Button, Group, SegmentedControl } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import type { IncidentCounts } from "@/lib/api/types";
import { useCatalogue, useSymptomChoices } from "@/lib/api/useCatalogue";
import { useStates } from "@/lib/api/useStates";
import { namesWhere, type StateTable, unfinished } from "@/lib/states";
import { SearchField } from "@/lib/ui/SearchField";
import { scopeLabel } from "@/shared/incidents/incidentText";
import { FacetMultiSelect, FacetSelect } from "./FacetSelect";
import { type IncidentFilters, isFiltered, SCOPES, stateChoice, symptomsOf } from "./filters";
import { MoreFilters } from "./MoreFilters";

interface Props {
  filters: IncidentFilters;
  counts: IncidentCounts["by"] | undefined;
  onFilters: (filters: IncidentFilters) => void;
}

function withCount(label: string, count: number | undefined): string {
  return count === undefined ? label : `${label} ${count.toLocaleString("en")}`;
}

function stateChoices(table: StateTable, counts: IncidentCounts["by"]["state"] | undefined) {
  const sum = (names: readonly string[]) => counts && names.reduce((total, name) => total + (counts[name] ?? 0), 0);
  return [
    { value: "unresolved", label: withCount("Unresolved", sum(unfinished(table))) },
    ...table.map(({ name, label }) => ({
      value: name,
      label: withCount(label, counts ? (counts[name] ?? 0) : undefined),
    })),
    { value: "all", label: withCount("All", sum(namesWhere(table, () => true))) },
  ];
}

/** Every filter is in the URL. The counts say what each choice would show together with the other choices. */
export function IncidentFilterBar({ filters, counts, onFilters }: Props) {
  const symptoms = useSymptomChoices();
  const states = useStates("incident");
  const causes = (useCatalogue().data?.causes ?? []).map(({ id, title }) => ({ value: id, label: `${id} ${title}` }));
  const set = (changes: Partial<IncidentFilters>) => onFilters({ ...filters, ...changes });
  return (
    <div role="search" aria-label="Filter incidents">
      <SegmentedControl
        aria-label="State"
        value={stateChoice(states, filters.state)}
        onChange={(value) => set({ state: value === "unresolved" ? undefined : value })}
        data={stateChoices(states, counts?.state)}
        mb={8}
        maw="100%"
        style={{ overflowX: "auto" }}
      />
      <Group gap={8} align="flex-start">
        <SearchField
          label="Search incidents"
          placeholder="title, subject, ticket …  ( / )"
          width={230}
          icon={<IconSearch size={14} />}
          first
          value={filters.q}
          onValue={(q) => set({ q })}
        />
        <FacetSelect
          label="Severity"
          width={110}
          choices={[
            { value: "critical", label: "critical" },
            { value: "warning", label: "warning" },
          ]}
          counts={counts?.severity}
          value={filters.severity}
          onChange={(value) => set({ severity: value as IncidentFilters["severity"] })}
        />
        <FacetMultiSelect
          label="Symptom"
          width={120}
          choices={symptoms}
          counts={counts?.symptom}
          value={symptomsOf(filters)}
          onChange={(values) => set({ symptom: values.join(",") || undefined })}
        />
        <FacetSelect
          label="Cause"
          width={110}
          choices={causes}
          counts={counts?.cause}
          value={filters.cause}
          onChange={(cause) => set({ cause })}
        />
        <FacetSelect
          label="Scope"
          width={105}
          choices={SCOPES.map((value) => ({ value, label: scopeLabel(value) }))}
          counts={counts?.scope}
          value={filters.scope}
          onChange={(value) => set({ scope: value as IncidentFilters["scope"] })}
        />
        <SearchField
          label="Host"
          placeholder="host"
          width={100}
          value={filters.host}
          onValue={(host) => set({ host })}
        />
        <SearchField
          label="Rack"
          placeholder="rack"
          width={80}
          value={filters.rack}
          onValue={(rack) => set({ rack })}
        />
        <MoreFilters filters={filters} onFilters={onFilters} />
        {isFiltered(filters) && (
          <Button
            variant="subtle"
            leftSection={<IconX size={14} />}
            onClick={() =>
              onFilters({ state: filters.state, sort: filters.sort, order: filters.order, group: filters.group })
            }
          >
            Clear filters
          </Button>
        )}
      </Group>
    </div>
  );
}
