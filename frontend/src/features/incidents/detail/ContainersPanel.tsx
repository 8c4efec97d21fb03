import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Container } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { PodOwner } from "@/lib/ui/PodOwner";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useContainers } from "../queries";

const column = createColumnHelper<Container>();

function ContainerTable({ containers }: { containers: readonly Container[] }) {
  const { time } = useTimeFormat();
  const columns = useMemo(
    () => [
      column.accessor((row) => row.pod ?? row.container, {
        id: "pod",
        header: "Pod or container",
        cell: ({ row: { original }, getValue }) => (
          <>
            <span title={original.container} style={{ overflowWrap: "anywhere" }}>
              {getValue()}
            </span>{" "}
            <PodOwner owner={original.owner} labels={original.labels} />
          </>
        ),
      }),
      column.accessor((row) => `${row.host} ${row.pci}`, {
        id: "rnic",
        header: "RNIC",
        cell: ({ row: { original } }) => (
          <Link
            to="/rnics/$host/$pci"
            params={{ host: original.host, pci: original.pci }}
            style={{ whiteSpace: "nowrap" }}
          >
            {original.host} {original.pci}
          </Link>
        ),
      }),
      column.accessor((row) => row.vf ?? "", {
        id: "vf",
        header: "Virtual function",
        cell: ({ getValue }) => (
          <span style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem" }}>{getValue() || "–"}</span>
        ),
      }),
      column.accessor((row) => row.address ?? "–", { id: "address", header: "Address" }),
      column.accessor((row) => row.vxlan_network ?? -1, {
        id: "vxlan",
        header: "VXLAN",
        cell: ({ row }) => row.original.vxlan_network ?? "–",
      }),
      column.accessor("since", {
        header: "Since",
        cell: ({ getValue }) => <span style={{ whiteSpace: "nowrap" }}>{time(getValue())}</span>,
      }),
      column.accessor((row) => row.until ?? "", {
        id: "until",
        header: "Now",
        cell: ({ row }) =>
          row.original.until === null ? (
            <StatusMark tone="warn">running</StatusMark>
          ) : (
            <StatusMark tone="quiet">gone</StatusMark>
          ),
      }),
    ],
    [time],
  );
  return <DataTable label="Affected containers" data={containers} columns={columns} />;
}

/** Whom it hits: the containers that had a virtual function of its RNICs since it began. */
export function ContainersPanel({ id }: { id: string }) {
  const containers = useContainers(id);
  const count = containers.data?.items.length ?? 0;
  return (
    <Panel
      title="Affected containers"
      aside={
        <Text size="xs" c="dimmed">
          {containers.data
            ? `${plural(count, "container")}${containers.data.truncated ? " and more" : ""} on its RNICs since it began`
            : ""}
        </Text>
      }
      flush
    >
      <div style={{ padding: containers.data ? 0 : 12, maxHeight: 360, overflowY: "auto" }}>
        <QueryState
          query={containers}
          lines={4}
          isEmpty={(data) => data.items.length === 0}
          empty={
            <EmptyState title="No containers known here">
              The CNI chain of this host reported none: either no container has a virtual function, or wallwatch-cni is
              not in the chain.
            </EmptyState>
          }
        >
          {(data) => <ContainerTable containers={data.items} />}
        </QueryState>
      </div>
    </Panel>
  );
}
