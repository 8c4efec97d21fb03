import { Button, Group, SegmentedControl, Select, Stack, Text, Title } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { SearchField } from "@/lib/ui/SearchField";
import { DeliveryNote } from "./DeliveryNote";
import { matching, type PolicyFilters, STATES, SUBJECTS } from "./filters";
import { STATE_LABELS, SUBJECT_LABELS } from "./PolicyMarks";
import { PolicyTable } from "./PolicyTable";
import { usePolicies } from "./queries";

interface Props {
  filters: PolicyFilters;
  onFilters: (filters: PolicyFilters) => void;
}

/** What must always hold, and whether it does: the catalogue's policies and operators' own. */
export function PoliciesPage({ filters, onFilters }: Props) {
  const policies = usePolicies();
  const shown = policies.data && matching(policies.data, filters);
  const filtered = Object.keys(filters).length > 0;
  const count = (state: string) => policies.data?.filter((policy) => policy.state === state).length ?? 0;
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>Policies</Title>
        <Button component={Link} to="/policies/new">
          New policy
        </Button>
      </Group>
      <Group gap={8} role="search" aria-label="Filter policies">
        <SegmentedControl
          aria-label="State"
          value={filters.state ?? "all"}
          onChange={(value) => onFilters({ ...filters, state: STATES.find((state) => state === value) })}
          data={[
            { value: "all", label: "All" },
            ...STATES.map((state) => ({
              value: state,
              label: `${STATE_LABELS[state].charAt(0).toUpperCase()}${STATE_LABELS[state].slice(1)} ${count(state)}`,
            })),
          ]}
        />
        <SegmentedControl
          aria-label="Origin"
          value={filters.own ?? "all"}
          onChange={(value) => onFilters({ ...filters, own: value === "yes" || value === "no" ? value : undefined })}
          data={[
            { value: "all", label: "All" },
            { value: "no", label: "Built-in" },
            { value: "yes", label: "Custom" },
          ]}
        />
        <Select
          aria-label="Subject"
          placeholder="Any subject"
          clearable
          w={160}
          value={filters.subject ?? null}
          onChange={(value) => onFilters({ ...filters, subject: SUBJECTS.find((subject) => subject === value) })}
          data={SUBJECTS.map((subject) => ({ value: subject, label: SUBJECT_LABELS[subject] }))}
        />
        <SearchField
          first
          label="Search policies"
          placeholder="Name, formula, S7, C1 …"
          width={240}
          icon={<IconSearch size={14} />}
          value={filters.q}
          onValue={(q) => onFilters({ ...filters, q })}
        />
        {filtered && (
          <Button variant="subtle" onClick={() => onFilters({})}>
            Clear filters
          </Button>
        )}
      </Group>
      <Panel title="Delivery to hosts">
        <DeliveryNote />
      </Panel>
      <Panel
        title="Policies by state"
        flush={Boolean(policies.data)}
        aside={
          <Text size="xs" c="dimmed">
            {shown && policies.data ? `${shown.length} of ${plural(policies.data.length, "policy", "policies")}` : ""}
          </Text>
        }
      >
        <QueryState
          query={{ ...policies, data: shown }}
          lines={10}
          isEmpty={(items) => items.length === 0}
          empty={
            <EmptyState title="No policy matches these filters">
              {filters.own === "yes"
                ? "Create one: a formula over events of flows, virtual functions, RNICs and hosts, tested before it runs anywhere."
                : "Clear the filters to see all policies."}
            </EmptyState>
          }
        >
          {(items) => <PolicyTable policies={items} />}
        </QueryState>
      </Panel>
    </Stack>
  );
}
