import { Text, Tooltip } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import type { VirtualFunction } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { PodOwner, podFacts } from "@/lib/ui/PodOwner";
import { StatusMark } from "@/lib/ui/StatusMark";
import { contradiction, holderText, isAtLimit, isUsed, limitText, settingsText } from "./vfText";

const column = createColumnHelper<VirtualFunction>();
const mono = { fontFamily: "var(--ww-mono)", whiteSpace: "nowrap" } as const;

function Holder({ vf, at }: { vf: VirtualFunction; at: string | null }) {
  const now = useNow();
  const doubt = contradiction(vf, at);
  return (
    <>
      <Text
        span
        size="sm"
        c={isUsed(vf) ? undefined : "dimmed"}
        fw={vf.container ? 600 : undefined}
        style={{ whiteSpace: "nowrap" }}
        title={vf.container?.id ?? undefined}
      >
        {holderText(vf)}
      </Text>
      {vf.container && podFacts(vf.container) !== null && (
        <span style={{ marginLeft: 6 }}>
          <PodOwner owner={vf.container.owner} labels={vf.container.labels} />
        </span>
      )}
      {vf.container && (
        <Text span size="xs" c="dimmed" ml={6} style={{ whiteSpace: "nowrap" }}>
          for {formatDuration(now - Date.parse(vf.container.since))}
        </Text>
      )}
      {doubt && (
        <Text size="xs" style={{ color: "var(--ww-warn)" }}>
          ▲ {doubt}
        </Text>
      )}
    </>
  );
}

function Addresses({ vf }: { vf: VirtualFunction }) {
  const { container } = vf;
  if (!container || container.addresses.length === 0)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  return (
    <span style={mono}>
      {container.addresses.map((address, i) => (
        <span key={address}>
          {i > 0 && <br />}
          {address}
        </span>
      ))}
      {container.vxlan_network !== null && (
        <Text span size="xs" c="dimmed" ml={6}>
          VNI {container.vxlan_network}
        </Text>
      )}
    </span>
  );
}

function Pci({ vf }: { vf: VirtualFunction }) {
  return (
    <Tooltip label={settingsText(vf)} multiline maw={420} events={{ hover: true, focus: true, touch: true }}>
      <span tabIndex={0} style={{ ...mono, textDecoration: "underline dotted", textUnderlineOffset: 3 }}>
        {vf.pci ?? "unknown"}
      </span>
    </Tooltip>
  );
}

function Unit({ of, unit }: { of: string; unit: string }) {
  return (
    <span style={{ whiteSpace: "nowrap" }}>
      {of}{" "}
      <Text span size="xs" c="dimmed">
        {unit}
      </Text>
    </span>
  );
}

/** A number, quiet where it is zero. */
function Amount({ value }: { value: number | null }) {
  return (
    <Text span size="sm" c={value ? undefined : "dimmed"}>
      {formatNumber(value)}
    </Text>
  );
}

/** The columns; `at` is the time of the samples. What is missing sorts last in both directions. */
export function vfColumns(at: string | null) {
  const last = { sortUndefined: "last" } as const;
  return [
    column.accessor("vf", { id: "vf", header: "VF", sortDescFirst: false }),
    column.accessor((vf) => vf.pci ?? undefined, {
      id: "pci",
      header: "PCI",
      cell: ({ row }) => <Pci vf={row.original} />,
      sortDescFirst: false,
      ...last,
    }),
    column.accessor((vf) => `${isUsed(vf) ? 0 : 1}${holderText(vf)}`, {
      id: "holder",
      header: "Assigned to",
      cell: ({ row }) => <Holder vf={row.original} at={at} />,
      sortDescFirst: false,
    }),
    column.accessor((vf) => vf.container?.addresses[0] ?? undefined, {
      id: "address",
      header: "Address",
      cell: ({ row }) => <Addresses vf={row.original} />,
      sortingFn: "alphanumeric",
      sortDescFirst: false,
      ...last,
    }),
    column.accessor((vf) => vf.driver ?? undefined, {
      id: "driver",
      header: "Driver",
      cell: ({ row }) => row.original.driver ?? "–",
      sortDescFirst: false,
      ...last,
    }),
    column.accessor((vf) => vf.tx_gbps ?? undefined, {
      id: "tx",
      header: () => <Unit of="Sends" unit="Gbit/s" />,
      sortDescFirst: true,
      ...last,
      cell: ({ row }) =>
        isAtLimit(row.original) ? (
          <StatusMark tone="warn">{`${formatNumber(row.original.tx_gbps)} at limit`}</StatusMark>
        ) : (
          <Amount value={row.original.tx_gbps} />
        ),
    }),
    column.accessor((vf) => vf.rx_gbps ?? undefined, {
      id: "rx",
      header: () => <Unit of="Receives" unit="Gbit/s" />,
      cell: ({ row }) => <Amount value={row.original.rx_gbps} />,
      sortDescFirst: true,
      ...last,
    }),
    column.accessor((vf) => vf.drops_per_s ?? undefined, {
      id: "drops",
      header: () => <Unit of="Drops" unit="/s" />,
      sortDescFirst: true,
      ...last,
      cell: ({ row: { original: vf } }) =>
        vf.drops_per_s !== null && vf.drops_per_s > 0 ? (
          <StatusMark tone="warn">{formatNumber(vf.drops_per_s)}</StatusMark>
        ) : (
          <Amount value={vf.drops_per_s} />
        ),
    }),
    column.accessor((vf) => vf.max_tx_mbps || undefined, {
      id: "limit",
      header: "Rate limit",
      cell: ({ row }) => <span style={{ whiteSpace: "nowrap" }}>{limitText(row.original.max_tx_mbps)}</span>,
      sortDescFirst: true,
      ...last,
    }),
  ];
}
