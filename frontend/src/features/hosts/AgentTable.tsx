import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { createColumnHelper, type SortingState } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Agent } from "@/lib/api/types";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { DataTable } from "@/lib/ui/DataTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { certificateState } from "./certificate";

/** When an agent's certificate ends: how much time is left, when, and what to do when nothing renews it. */
function CertificateEnd({ agent }: { agent: Agent }) {
  const { time } = useTimeFormat();
  const { tone, text, todo } = certificateState(agent.certificate, agent.connected, useNow());
  return (
    <Stack gap={0}>
      {tone ? <StatusMark tone={tone}>{text}</StatusMark> : <Text size="sm">{text}</Text>}
      {agent.certificate && (
        <Text size="xs" c="dimmed">
          {time(agent.certificate.expires_at)}
        </Text>
      )}
      {todo && <Text size="xs">{todo}</Text>}
    </Stack>
  );
}

const column = createColumnHelper<Agent>();

/** The column whose order the API gives too, so that it is that of all agents and not of those shown. */
export const CERTIFICATE = "certificate";
/** Agents without a certificate come after all others. */
const NEVER = "9999";

function LastSeen({ at }: { at: string | null }) {
  return <>{formatAgo(at, useNow())}</>;
}

/** Health as the agent reported it; without a connection that is the past. */
function Health({ agent }: { agent: Agent }) {
  if (agent.healthy === null) return <StatusMark tone="quiet">not reported yet</StatusMark>;
  const word = agent.healthy ? "healthy" : "unhealthy";
  if (!agent.connected) return <StatusMark tone="quiet">{`${word} when last seen`}</StatusMark>;
  return (
    <Group gap={6}>
      <StatusMark tone={agent.healthy ? "good" : "bad"}>{word}</StatusMark>
      {!agent.healthy && <Text size="xs">{agent.health_error ?? ""}</Text>}
    </Group>
  );
}

interface Props {
  agents: readonly Agent[];
  sorting: SortingState;
  onSorting: (sorting: SortingState) => void;
  onRemove: (id: string) => void;
}

export function AgentTable({ agents, sorting, onSorting, onRemove }: Props) {
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
      column.accessor("connected", {
        header: "Connection",
        cell: ({ getValue }) => (
          <StatusMark tone={getValue() ? "good" : "warn"}>{getValue() ? "connected" : "not connected"}</StatusMark>
        ),
      }),
      column.accessor((agent) => String(agent.healthy), {
        id: "health",
        header: "Health",
        cell: ({ row }) => <Health agent={row.original} />,
      }),
      column.accessor((agent) => agent.version ?? "–", { id: "version", header: "Version" }),
      column.accessor((agent) => agent.certificate?.expires_at ?? NEVER, {
        id: CERTIFICATE,
        header: "Certificate",
        sortDescFirst: false,
        cell: ({ row }) => <CertificateEnd agent={row.original} />,
      }),
      column.accessor((agent) => agent.last_seen_at ?? "", {
        id: "seen",
        header: "Last seen",
        cell: ({ row }) => <LastSeen at={row.original.last_seen_at} />,
      }),
      column.display({
        id: "remove",
        header: "Actions",
        cell: ({ row }) => (
          <ConfirmButton
            label="Remove"
            question={`Remove the agent of ${row.original.host}? Its credentials stop working immediately; it must be enrolled again to return.`}
            confirm="Remove"
            onConfirm={() => onRemove(row.original.id)}
          />
        ),
      }),
    ],
    [onRemove],
  );
  return <DataTable label="Agents" data={agents} columns={columns} sorting={sorting} onSorting={onSorting} />;
}
