import { Group, Text } from "@mantine/core";
import type { VirtualFunctions } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { VfFilter } from "./VfFilter";
import { useVfs } from "./vfQueries";
import { VfTable } from "./VfTable";
import { isUsed } from "./vfText";
import type { VfView } from "./vfView";

/** Three times the collector's default interval for virtual functions, in milliseconds. */
export const VFS_STALE_AFTER_MS = 6 * 60_000;

interface Props {
  host: string;
  pci: string;
  view: VfView;
  onView: (view: VfView) => void;
}

function Summary({ data }: { data: VirtualFunctions | undefined }) {
  const { clock } = useTimeFormat();
  const now = useNow();
  if (!data || data.at === null) return null;
  const used = data.items.filter(isUsed).length;
  return (
    <Group gap={10}>
      <Text size="xs" c="dimmed">
        {used} of {data.items.length} in use · sampled {clock(data.at)} · rates are means since the sample before
      </Text>
      {now - Date.parse(data.at) > VFS_STALE_AFTER_MS && <StatusMark tone="warn">Stale</StatusMark>}
    </Group>
  );
}

function Nothing({ data }: { data: VirtualFunctions }) {
  if (data.numvfs === 0)
    return (
      <EmptyState title="This RNIC has no virtual functions">
        {data.totalvfs ? `It could have ${data.totalvfs}. ` : ""}They are made by writing their number to sriov_numvfs of the device, usually by the SR-IOV operator.
      </EmptyState>
    );
  return <EmptyState title="No virtual function was sampled in the last day">The collector samples them every vf_interval (2 minutes unless changed); &quot;0s&quot; there turns it off.</EmptyState>;
}

/** Which functions the RNIC has, who holds each, and what each sends and receives. */
export function VfPanel({ host, pci, view, onView }: Props) {
  const vfs = useVfs(host, pci);
  const any = (vfs.data?.items.length ?? 0) > 0;
  return (
    <Panel
      title="Virtual functions"
      aside={<Summary data={vfs.data} />}
      flush={any && !vfs.error}
      actions={any && <VfFilter view={view} onView={onView} />}
    >
      <QueryState query={vfs} lines={6} isEmpty={(data) => data.items.length === 0} empty={vfs.data && <Nothing data={vfs.data} />}>
        {(data) => <VfTable data={data} view={view} onView={onView} />}
      </QueryState>
    </Panel>
  );
}
