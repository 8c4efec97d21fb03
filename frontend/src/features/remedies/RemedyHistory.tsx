import { Button, Group, Modal, Select } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Remedy } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { find } from "@/lib/states";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { SearchField } from "@/lib/ui/SearchField";
import { ActionName } from "@/shared/remedies/ActionName";
import { RemedyFollow } from "@/shared/remedies/order/RemedyFollow";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { useRemedyPages } from "@/shared/remedies/queries";
import { RemedyPlace } from "@/shared/remedies/RemedyPlace";
import { StateMark } from "@/lib/ui/StateMark";
import type { RemedySearch } from "./search";

const column = createColumnHelper<Remedy>();

interface Props {
  search: RemedySearch;
  onSearch: (search: RemedySearch) => void;
}

/** Every remedy on every host: who requested it, and whether telemetry confirmed it. */
export function RemedyHistory({ search, onSearch }: Props) {
  const states = useStates("remedy");
  const state = find(states, search.state)?.name;
  const remedies = useRemedyPages({ state, host: search.host });
  const { time } = useTimeFormat();
  const show = (remedy: string | undefined) => onSearch({ ...search, remedy });
  const columns = useMemo(
    () => [
      column.accessor("state", {
        header: "State",
        cell: ({ getValue }) => <StateMark machine="remedy" state={getValue()} />,
      }),
      column.accessor("action", { header: "Action", cell: ({ getValue }) => <ActionName action={getValue()} /> }),
      column.accessor("mode", { header: "Mode", cell: ({ getValue }) => getValue().replace("_", " ") }),
      column.accessor("host", { header: "RNIC", cell: ({ row }) => <RemedyPlace remedy={row.original} /> }),
      column.display({
        id: "params",
        header: "Parameters",
        cell: ({ row }) => <ParamsLine action={row.original.action} params={row.original.params} />,
      }),
      column.accessor("requested_by", { header: "Requested by" }),
      column.accessor("created_at", { header: "Requested", cell: ({ getValue }) => time(getValue()) }),
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
  const filtered = state !== undefined || search.host !== undefined;
  return (
    <>
      <Group gap={8} role="search" aria-label="Filter remedies">
        <SearchField
          first
          label="Filter by host"
          placeholder="host  ( / )"
          width={180}
          value={search.host}
          onValue={(host) => onSearch({ ...search, host })}
        />
        <Select
          aria-label="Filter by state"
          placeholder="state"
          clearable
          w={180}
          data={states.map(({ name, label }) => ({ value: name, label }))}
          value={state ?? null}
          onChange={(value) => onSearch({ ...search, state: value ?? undefined })}
          clearButtonProps={{ "aria-label": "Clear state" }}
        />
      </Group>
      <ListPanel
        title="Newest first"
        pages={remedies}
        empty={
          filtered ? (
            <EmptyState title="No remedy matches these filters">
              Clear a filter. The host must match exactly.
            </EmptyState>
          ) : (
            <EmptyState title="No remedies yet">
              Open an incident or an RNIC and choose a remedy; its dry run shows what it would change.
            </EmptyState>
          )
        }
        moreLabel="Show older remedies"
      >
        {(items) => <DataTable label="Remedies" data={items} columns={columns} />}
      </ListPanel>
      <Modal opened={search.remedy !== undefined} onClose={() => show(undefined)} size={720} title="Remedy">
        {search.remedy !== undefined && <RemedyFollow id={search.remedy} />}
      </Modal>
    </>
  );
}
