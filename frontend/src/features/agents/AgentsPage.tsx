import { Button, Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { SortingState } from "@tanstack/react-table";
import { useState } from "react";
import type { Agent } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HostField } from "@/lib/ui/HostField";
import { ListPanel } from "@/lib/ui/ListPanel";
import { AgentTable, CERTIFICATE } from "./AgentTable";
import { EnrolDialog } from "./EnrolDialog";
import type { AgentFilters } from "./filters";
import { useAgents, useDeleteAgent } from "./queries";

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

export function AgentsPage({ filters, onFilters }: Props) {
  const { host, connection, sort } = filters;
  const agents = useAgents({ host, connected: connection && connection === "connected", sort });
  const [sorting, setSorting] = useState<SortingState>(sort ? [{ id: CERTIFICATE, desc: false }] : []);
  const remove = useDeleteAgent();
  const [opened, dialog] = useDisclosure(false);
  const filtered = Boolean(host ?? connection);
  const onSorting = (next: SortingState) => {
    setSorting(next);
    onFilters({ ...filters, sort: next[0]?.id === CERTIFICATE ? "certificate" : undefined });
  };
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>Agents</Title>
        <Button onClick={dialog.open}>Enrol an agent</Button>
      </Group>
      <Group gap={8} role="search" aria-label="Filter agents">
        <SegmentedControl
          aria-label="Connection"
          value={connection ?? "all"}
          onChange={(value) => onFilters({ ...filters, connection: value === "connected" || value === "lost" ? value : undefined })}
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
          <EmptyState title={filtered ? "No agent matches these filters" : "No agent is enrolled"}>
            {filtered ? "Clear the filters to see all agents." : "Without an agent a host is observed, but remedies can't be applied on it. Enrol one to begin."}
          </EmptyState>
        }
        moreLabel="Show more agents"
      >
        {(items) => (
          <>
            <AgentTable agents={items} sorting={sorting} onSorting={onSorting} onRemove={remove.mutate} />
            <Text size="xs" c="dimmed" px={12} py={8}>
              A connected agent is given a new certificate at half of the life of the one before; nothing is to be done. One that was away until its certificate ended has to be enrolled again.
            </Text>
          </>
        )}
      </ListPanel>
      {opened && <EnrolDialog onClose={dialog.close} />}
    </Stack>
  );
}
