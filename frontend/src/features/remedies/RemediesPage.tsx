import { Button, Group, Modal, Select, Stack, Title } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Remedy } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { SearchField } from "@/lib/ui/SearchField";
import { ActionName } from "./ActionName";
import { ApprovalQueue } from "./ApprovalQueue";
import { AutomationPanel } from "./AutomationPanel";
import { ControlPanel } from "./ControlPanel";
import { ParamsLine } from "./ParamsLine";
import { isRemedyState, STATES } from "./progress";
import { useRemedyPages } from "./queries";
import { RemedyFollow } from "./RemedyFollow";
import { RemedyPlace } from "./RemedyPlace";
import { RemedyStateMark } from "./RemedyStateMark";
import { RolloutsPanel } from "./RolloutsPanel";
import type { RemedySearch } from "./search";

const column = createColumnHelper<Remedy>();

interface Props {
  search: RemedySearch;
  onSearch: (search: RemedySearch) => void;
}

/** Everything that was done to a host, by whom, and whether it helped. */
export function RemediesPage({ search, onSearch }: Props) {
  const remedies = useRemedyPages({ state: search.state, host: search.host });
  const { time } = useTimeFormat();
  const show = (remedy: string | undefined) => onSearch({ ...search, remedy });
  const columns = useMemo(
    () => [
      column.accessor("state", { header: "State", cell: ({ getValue }) => <RemedyStateMark state={getValue()} /> }),
      column.accessor("action", { header: "Action", cell: ({ getValue }) => <ActionName action={getValue()} /> }),
      column.accessor("mode", { header: "Mode", cell: ({ getValue }) => getValue().replace("_", " ") }),
      column.accessor("host", { header: "RNIC", cell: ({ row }) => <RemedyPlace remedy={row.original} /> }),
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
          <Button size="compact-xs" variant="default" onClick={() => onSearch({ ...search, remedy: row.original.id })}>
            Open
          </Button>
        ),
      }),
    ],
    [time, search, onSearch],
  );
  const filtered = search.state !== undefined || search.host !== undefined;
  return (
    <Stack gap={12}>
      <Title order={1}>Remedies</Title>
      <ControlPanel />
      <ApprovalQueue onOpen={show} />
      <RolloutsPanel />
      <AutomationPanel />
      <Group gap={8} role="search" aria-label="Filter the remedies">
        <SearchField first label="Filter by host" placeholder="host  ( / )" width={180} value={search.host} onValue={(host) => onSearch({ ...search, host })} />
        <Select
          aria-label="Filter by state"
          placeholder="state"
          clearable
          w={180}
          data={Object.entries(STATES).map(([value, { label }]) => ({ value, label }))}
          value={search.state ?? null}
          onChange={(value) => onSearch({ ...search, state: value !== null && isRemedyState(value) ? value : undefined })}
          clearButtonProps={{ "aria-label": "Clear state" }}
        />
      </Group>
      <ListPanel
        title="Newest first"
        pages={remedies}
        empty={
          filtered ? (
            <EmptyState title="No remedy matches these filters">Clear a filter; the host is matched whole.</EmptyState>
          ) : (
            <EmptyState title="No remedy was ordered yet">Open an incident or an RNIC and choose a remedy; its dry run shows what it would do.</EmptyState>
          )
        }
        moreLabel="Show older remedies"
      >
        {(items) => <DataTable label="Remedies" data={items} columns={columns} />}
      </ListPanel>
      <Modal opened={search.remedy !== undefined} onClose={() => show(undefined)} size={720} title="Remedy">
        {search.remedy !== undefined && <RemedyFollow id={search.remedy} />}
      </Modal>
    </Stack>
  );
}
