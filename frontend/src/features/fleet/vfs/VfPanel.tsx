import "@/lib/ui/mantineMore.css";
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { VirtualFunctions } from "@/lib/api/types";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { vfColumns } from "./vfColumns";
import { VfFilter } from "./VfFilter";
import { filterVfs, isUsed } from "./vfText";
import { fromSorting, toSorting, type VfView } from "./vfView";

/** The samples come every two minutes, but who holds a function changes at any time. */
const VFS_EVERY_MS = 10_000;

function useVfs(host: string, pci: string) {
  return useQuery({
    queryKey: ["rnics", host, pci, "vfs"],
    queryFn: () => unwrap(api.GET("/api/v1/rnics/{host}/{pci}/vfs", { params: { path: { host, pci } } })),
    refetchInterval: VFS_EVERY_MS,
  });
}

interface TableProps {
  data: VirtualFunctions;
  view: VfView;
  onView: (view: VfView) => void;
}

/** As high as the charts next to it; an RNIC may have hundreds of functions. */
const HEIGHT = 440;

function VfTable({ data, view, onView }: TableProps) {
  const shown = useMemo(() => filterVfs(data.items, view), [data.items, view]);
  const columns = useMemo(() => vfColumns(data.at), [data.at]);
  const sorting = useMemo(() => toSorting(view), [view]);
  if (shown.length === 0)
    return (
      <EmptyState title="No virtual function matches">Clear the filter to see all {data.items.length}.</EmptyState>
    );
  return (
    <div style={{ maxHeight: HEIGHT, overflow: "auto" }} role="group" aria-label="Virtual functions" tabIndex={0}>
      <DataTable
        label="Virtual functions"
        data={shown}
        columns={columns}
        sorting={sorting}
        onSorting={(next) => onView({ ...view, vfSort: fromSorting(next) })}
        sticky
      />
    </div>
  );
}

interface Props {
  host: string;
  pci: string;
  view: VfView;
  onView: (view: VfView) => void;
}

function Summary({ data, host, pci }: { data: VirtualFunctions | undefined; host: string; pci: string }) {
  const { clock } = useTimeFormat();
  const now = useNow();
  if (!data || data.at === null) return null;
  const used = data.items.filter(isUsed).length;
  return (
    <Group gap={10}>
      <Text size="xs" c="dimmed">
        {used} of {data.items.length} in use · sampled {clock(data.at)} · rates are averages since the previous sample
      </Text>
      <Text size="xs">
        <Link to="/tenants/rnics/$host/$pci" params={{ host, pci }}>
          Promises and aggressors
        </Link>
      </Text>
      {now - Date.parse(data.at) > 1000 * data.stale_after_s && <StatusMark tone="warn">Stale</StatusMark>}
    </Group>
  );
}

function Nothing({ data }: { data: VirtualFunctions }) {
  if (data.numvfs === 0)
    return (
      <EmptyState title="This RNIC has no virtual functions">
        {data.totalvfs ? `It supports up to ${data.totalvfs}. ` : ""}Create them by writing their number to sriov_numvfs
        of the device; usually the SR-IOV operator does it.
      </EmptyState>
    );
  return (
    <EmptyState title="No virtual function samples in the last day">
      The collector samples them every vf_interval (2 minutes unless changed); &quot;0s&quot; there turns it off. A
      node_exporter knows nothing of them.
    </EmptyState>
  );
}

/** Which functions the RNIC has, who holds each, and what each sends and receives. */
export function VfPanel({ host, pci, view, onView }: Props) {
  const vfs = useVfs(host, pci);
  const any = (vfs.data?.items.length ?? 0) > 0;
  return (
    <Panel
      title="Virtual functions"
      aside={<Summary data={vfs.data} host={host} pci={pci} />}
      flush={any && !vfs.error}
      actions={any && <VfFilter view={view} onView={onView} />}
    >
      <QueryState
        query={vfs}
        lines={6}
        isEmpty={(data) => data.items.length === 0}
        empty={vfs.data && <Nothing data={vfs.data} />}
      >
        {(data) => <VfTable data={data} view={view} onView={onView} />}
      </QueryState>
    </Panel>
  );
}
