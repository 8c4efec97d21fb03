import { Button, Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { SortingState } from "@tanstack/react-table";
import { useState } from "react";
import type { Agent } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { SearchField } from "@/lib/ui/SearchField";
import { AgentTable, CERTIFICATE } from "./AgentTable";
import { EnrolDialog } from "./EnrolDialog";
import type { AgentFilters } from "./filters";
import { useAgents, useDeleteAgent } from "./queries";

/** Filters a list by one host. The API compares names in full. `/` puts the cursor here. */
function HostField({ host, onHost }: { host: string | undefined; onHost: (host: string | undefined) => void }) {
  return (
    <SearchField
      label="Host name"
      placeholder="exact host name ( / )"
      width={210}
      icon={<IconSearch size={14} />}
      first
      value={host}
      onValue={onHost}
    />
  );
}

const CONNECTIONS = [
  { value: "all", label: "All" },
  { value: "connected", label: "Connected" },
  { value: "lost", label: "Not connected" },
];

/** `7 of 8 agents connected`; of a list that goes on, only what is shown is counted. */
export function connectedText(agents: readonly Agent[], more: boolean): string {
  const connected = agents.filter((agent) => agent.connected).length;
  return `${connected} of ${more ? "the first " : ""}${plural(agents.length, "agent")} connected`;
}

interface Props {
  filters: AgentFilters;
  onFilters: (filters: AgentFilters) => void;
}

export function HostsPage({ filters, onFilters }: Props) {
  const { host, connection, sort } = filters;
  const agents = useAgents({ host, connected: connection && connection === "connected", sort });
  const [sorting, setSorting] = useState<SortingState>(sort ? [{ id: CERTIFICATE, desc: false }] : []);
  const remove = useDeleteAgent();
  const filtered = Boolean(host ?? connection);
  const onSorting = (next: SortingState) => {
    setSorting(next);
    onFilters({ ...filters, sort: next[0]?.id === CERTIFICATE ? "certificate" : undefined });
  };
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>Hosts</Title>
        <Button onClick={() => onFilters({ ...filters, enrol: "1" })}>Enrol an agent</Button>
      </Group>
      <Group gap={8} role="search" aria-label="Filter agents">
        <SegmentedControl
          aria-label="Connection"
          value={connection ?? "all"}
          onChange={(value) =>
            onFilters({ ...filters, connection: value === "connected" || value === "lost" ? value : undefined })
          }
          data={CONNECTIONS}
        />
        <HostField host={host} onHost={(next) => onFilters({ ...filters, host: next })} />
        {filtered && (
          <Button variant="subtle" onClick={() => onFilters({ sort })}>
            Clear filters
          </Button>
        )}
      </Group>
      <ListPanel
        title="Agents by host"
        aside={
          <Text size="xs" c="dimmed">
            {agents.data && !connection ? connectedText(agents.data, agents.hasNextPage) : ""}
          </Text>
        }
        pages={agents}
        problem={remove.error}
        empty={
          <EmptyState title={filtered ? "No agent matches these filters" : "No agents enrolled"}>
            {filtered
              ? "Clear the filters to see all agents."
              : "Without an agent a host is observed, but no remedies can be applied. Enrol one to start."}
          </EmptyState>
        }
        moreLabel="Show more agents"
      >
        {(items) => (
          <>
            <AgentTable agents={items} sorting={sorting} onSorting={onSorting} onRemove={remove.mutate} />
            <Text size="xs" c="dimmed" px={12} py={8}>
              Certificates of connected agents renew automatically at half-life. An agent that was disconnected until
              its certificate expired must be enrolled again.
            </Text>
          </>
        )}
      </ListPanel>
      {filters.enrol && <EnrolDialog onClose={() => onFilters({ ...filters, enrol: undefined })} />}
    </Stack>
  );
}
