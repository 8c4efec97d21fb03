import { Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { RnicIsolation, VfIsolation } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useMayChange } from "@/shared/session";
import { useRnicIsolation } from "../queries";
import { LimitDialog } from "./LimitDialog";
import { RnicFigures } from "./RnicFigures";
import { StripPanel } from "./StripPanel";
import { vfColumns } from "./vfColumns";
import { VfFilter } from "./VfFilter";
import { fromSorting, matchingVfs, toSorting, type VfsView } from "./view";

interface Props {
  host: string;
  pci: string;
  view: VfsView;
  onView: (view: VfsView) => void;
}

function Header({ host, pci, rnic }: { host: string; pci: string; rnic: RnicIsolation | undefined }) {
  return (
    <header>
      <Group gap={12} align="center">
        <Title order={1}>
          VFs of {host} <span style={{ fontFamily: "var(--ww-mono)", fontWeight: 400 }}>{pci}</span>
        </Title>
        {rnic?.stale && <StatusMark tone="warn">Stale</StatusMark>}
      </Group>
      <Text size="sm" c="dimmed" mt={2}>
        {rnic?.model ? `${rnic.model} · ` : ""}
        <Link to="/rnics/$host/$pci" params={{ host, pci }}>
          Open the RNIC
        </Link>
        {" · "}
        <Link to="/tenants">All tenants</Link>
      </Text>
    </header>
  );
}

function Table({ host, pci, view, onView, rnic }: Props & { rnic: RnicIsolation }) {
  const mayChange = useMayChange();
  const [limited, setLimited] = useState<VfIsolation | null>(null);
  const shown = useMemo(() => matchingVfs(rnic.vfs, view), [rnic.vfs, view]);
  const columns = useMemo(
    () => vfColumns({ host, pci, onLimit: mayChange ? setLimited : undefined }),
    [host, pci, mayChange],
  );
  const sorting = useMemo(() => toSorting(view), [view]);
  return (
    <>
      {shown.length === 0 ? (
        <EmptyState title="No VF matches">Clear the filter to see all {rnic.vfs.length}.</EmptyState>
      ) : (
        <DataTable
          label="VFs and their promises"
          data={shown}
          columns={columns}
          sorting={sorting}
          onSorting={(next) => onView({ ...view, sort: fromSorting(next) })}
        />
      )}
      {limited && <LimitDialog host={host} pci={pci} vf={limited} onClose={() => setLimited(null)} />}
    </>
  );
}

function Nothing({ rnic }: { rnic: RnicIsolation }) {
  if (rnic.numvfs === 0)
    return (
      <EmptyState title="This RNIC has no VFs">
        Promises are made to VFs, so there is nothing to keep here. VFs that are created appear within a minute.
      </EmptyState>
    );
  const title =
    rnic.numvfs === null
      ? "No VF of this RNIC reports its traffic"
      : `None of ${plural(rnic.numvfs, "VF")} reports its traffic`;
  return (
    <EmptyState title={title}>
      The collector reads VF traffic from the representors (switchdev) or from the physical function. Check under{" "}
      <Link to="/hosts">Hosts</Link> whether the host reports, and that the input{" "}
      <span style={{ fontFamily: "var(--ww-mono)" }}>vf_traffic</span> is enabled on it.
    </EmptyState>
  );
}

/** The VFs of one RNIC: what each was promised, what it gets, and who takes it from whom. */
export function RnicVfsPage({ host, pci, view, onView }: Props) {
  const rnic = useRnicIsolation(host, pci);
  const any = (rnic.data?.vfs.length ?? 0) > 0;
  if (rnic.error && !rnic.data)
    return (
      <Stack gap={12}>
        <Header host={host} pci={pci} rnic={undefined} />
        <ProblemNotice error={rnic.error} onRetry={() => void rnic.refetch()} />
      </Stack>
    );
  return (
    <Stack gap={12}>
      <Header host={host} pci={pci} rnic={rnic.data} />
      {rnic.data && any && <RnicFigures rnic={rnic.data} />}
      {(any || !rnic.data) && (
        <StripPanel
          host={host}
          pci={pci}
          name={view.strip ?? "5m"}
          onName={(name) => onView({ ...view, strip: name === "6h" ? name : undefined })}
        />
      )}
      <Panel
        title="Promises and what each VF gets"
        flush={any}
        aside={any && <Key />}
        actions={any && <VfFilter view={view} onView={onView} />}
      >
        <QueryState
          query={rnic}
          lines={8}
          isEmpty={(data) => data.vfs.length === 0}
          empty={rnic.data && <Nothing rnic={rnic.data} />}
        >
          {(data) => <Table {...{ host, pci, view, onView }} rnic={data} />}
        </QueryState>
      </Panel>
    </Stack>
  );
}

function Key() {
  return (
    <span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>
      bar: rate, over what is guaranteed (solid) and allowed (faint); tick: rate limit
    </span>
  );
}
