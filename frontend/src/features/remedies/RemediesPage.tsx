import { Button, Modal, SegmentedControl, Stack, Title } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Remedy } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { ActionName } from "./ActionName";
import { ControlPanel } from "./ControlPanel";
import { ParamsLine } from "./ParamsLine";
import { useRemedyPages } from "./queries";
import { RemedyFollow } from "./RemedyFollow";
import { RemedyStateMark } from "./RemedyStateMark";
import { RolloutsPanel } from "./RolloutsPanel";

const column = createColumnHelper<Remedy>();

/** Everything that was done to a host, by whom, and whether it helped. */
export function RemediesPage() {
  const [filter, setFilter] = useState<"any" | "proposed">("any");
  const remedies = useRemedyPages(filter === "any" ? null : filter);
  const { time } = useTimeFormat();
  const [shown, setShown] = useState<string | null>(null);
  const columns = useMemo(
    () => [
      column.accessor("state", { header: "State", cell: ({ getValue }) => <RemedyStateMark state={getValue()} /> }),
      column.accessor("action", { header: "Action", cell: ({ getValue }) => <ActionName action={getValue()} /> }),
      column.accessor("mode", { header: "Mode", cell: ({ getValue }) => getValue().replace("_", " ") }),
      column.accessor("host", {
        header: "RNIC",
        cell: ({ row: { original: r } }) =>
          r.pci ? (
            <Link to="/rnics/$host/$pci" params={{ host: r.host, pci: r.pci }}>
              {r.host} {r.pci}
            </Link>
          ) : (
            r.host
          ),
      }),
      column.display({
        id: "params",
        header: "Parameters",
        cell: ({ row }) => <ParamsLine action={row.original.action} params={row.original.params} />,
      }),
      column.accessor("requested_by", { header: "By" }),
      column.accessor("created_at", { header: "Ordered", cell: ({ getValue }) => time(getValue()) }),
      column.display({
        id: "open",
        header: "Detail",
        cell: ({ row }) => (
          <Button size="compact-xs" variant="default" onClick={() => setShown(row.original.id)}>
            Open
          </Button>
        ),
      }),
    ],
    [time],
  );
  return (
    <Stack gap={12}>
      <Title order={1}>Remedies</Title>
      <ControlPanel />
      <RolloutsPanel />
      <SegmentedControl
        aria-label="Which remedies"
        style={{ alignSelf: "flex-start" }}
        value={filter}
        onChange={(value) => setFilter(value === "proposed" ? "proposed" : "any")}
        data={[
          { value: "any", label: "All" },
          { value: "proposed", label: "Waiting for approval" },
        ]}
      />
      <ListPanel
        title="Newest first"
        pages={remedies}
        empty={
          filter === "proposed" ? (
            <EmptyState title="Nothing waits for approval">What is risky waits here for a second person before it reaches a host.</EmptyState>
          ) : (
            <EmptyState title="No remedy was ordered yet">Open an incident or an RNIC and choose a remedy; its dry run shows what it would do.</EmptyState>
          )
        }
        moreLabel="Show older remedies"
      >
        {(items) => <DataTable label="Remedies" data={items} columns={columns} />}
      </ListPanel>
      <Modal opened={shown !== null} onClose={() => setShown(null)} size={720} title="Remedy">
        {shown !== null && <RemedyFollow id={shown} />}
      </Modal>
    </Stack>
  );
}
