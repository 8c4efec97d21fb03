import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { createColumnHelper } from "@tanstack/react-table";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Agent } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { EnrolDialog } from "./EnrolDialog";
import { useAgents, useDeleteAgent } from "./queries";

const column = createColumnHelper<Agent>();

function LastSeen({ at }: { at: string | null }) {
  return <>{formatAgo(at, useNow())}</>;
}

function Health({ agent }: { agent: Agent }) {
  if (agent.healthy === null) return <StatusMark tone="quiet">not told yet</StatusMark>;
  if (agent.healthy) return <StatusMark tone="good">healthy</StatusMark>;
  return (
    <Group gap={6}>
      <StatusMark tone="bad">unhealthy</StatusMark>
      <Text size="xs">{agent.health_error ?? ""}</Text>
    </Group>
  );
}

export function AgentsPage() {
  const agents = useAgents();
  const remove = useDeleteAgent();
  const [opened, dialog] = useDisclosure(false);
  const columns = useMemo(
    () => [
      column.accessor("host", {
        header: "Host",
        cell: ({ getValue }) => (
          <Link to="/" search={{ host: getValue() }}>
            {getValue()}
          </Link>
        ),
      }),
      column.accessor("connected", { header: "Connection", cell: ({ getValue }) => <StatusMark tone={getValue() ? "good" : "warn"}>{getValue() ? "connected" : "not connected"}</StatusMark> }),
      column.accessor((agent) => String(agent.healthy), { id: "health", header: "Health", cell: ({ row }) => <Health agent={row.original} /> }),
      column.accessor((agent) => agent.version ?? "–", { id: "version", header: "Version" }),
      column.accessor((agent) => agent.last_seen_at ?? "", { id: "seen", header: "Last seen", cell: ({ row }) => <LastSeen at={row.original.last_seen_at} /> }),
      column.display({
        id: "remove",
        header: "Remove",
        cell: ({ row }) => (
          <ConfirmButton
            label="Remove"
            question={`Remove the agent of ${row.original.host}? Its credentials stop working at once; to come back it must be enrolled again.`}
            confirm="Remove"
            onConfirm={() => remove.mutate(row.original.id)}
          />
        ),
      }),
    ],
    [remove],
  );
  const items = agents.data?.items ?? [];
  const connected = items.filter((agent) => agent.connected).length;
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>Agents</Title>
        <Button onClick={dialog.open}>Enrol an agent</Button>
      </Group>
      {remove.isError && <ProblemNotice error={remove.error} />}
      <Panel
        title="Agents by host"
        flush
        aside={
          <Text size="xs" c="dimmed">
            {agents.data ? `${connected} of ${plural(items.length, "agent")} connected` : ""}
          </Text>
        }
      >
        <div style={{ padding: agents.data ? 0 : 12 }}>
          <QueryState
            query={agents}
            lines={6}
            isEmpty={(page) => page.items.length === 0}
            empty={<EmptyState title="No agent is enrolled">Without an agent a host is observed, but remedies can't be applied on it. Enrol one to begin.</EmptyState>}
          >
            {(page) => <DataTable label="Agents" data={page.items} columns={columns} />}
          </QueryState>
        </div>
      </Panel>
      <EnrolDialog opened={opened} onClose={dialog.close} />
    </Stack>
  );
}
