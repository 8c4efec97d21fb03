import { Button, Text } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import type { VfIsolation } from "@/lib/api/types";
import { boundsText, delayText, envelopeText, promiseName, promiseText, secondsText, vfName } from "../text";
import { VfLink } from "../VfLink";
import { VfStateMark } from "../VfStateMark";
import { RateCell } from "./RateCell";
import { severity } from "./view";
import classes from "./VfTable.module.css";

const column = createColumnHelper<VfIsolation>();
const LAST = { sortUndefined: "last" } as const;

function Promise({ vf }: { vf: VfIsolation }) {
  if (!vf.slo)
    return (
      <Text span size="sm" c="dimmed">
        none
      </Text>
    );
  return (
    <div title={promiseText(vf.slo)}>
      <Text size="sm">{promiseName(vf.slo)}</Text>
      <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
        {envelopeText(vf.slo.min_mbps, vf.slo.max_mbps)}
      </Text>
    </div>
  );
}

function Quantile({ name, us, bound }: { name: string; us: number | null; bound: number | null | undefined }) {
  const over = us !== null && bound !== null && bound !== undefined && us > bound;
  return (
    <div className={classes["delay"]}>
      <Text span size="xs" c="dimmed">
        {name}{" "}
      </Text>
      <Text span size="sm" className={over ? classes["over"] : undefined} c={us === null ? "dimmed" : undefined}>
        {over && <span aria-hidden="true">▲ </span>}
        {delayText(us)}
      </Text>
      {bound !== null && bound !== undefined && (
        <Text span size="xs" c="dimmed">
          {" "}
          of {delayText(bound)}
        </Text>
      )}
    </div>
  );
}

function Delay({ vf }: { vf: VfIsolation }) {
  if (vf.delay_p50_us === null && vf.delay_p99_us === null)
    return (
      <Text span size="sm" c="dimmed" title={vf.slo ? boundsText(vf.slo) : undefined}>
        not measured
      </Text>
    );
  return (
    <>
      <Quantile name="p50" us={vf.delay_p50_us} bound={vf.slo?.p50_us} />
      <Quantile name="p99" us={vf.delay_p99_us} bound={vf.slo?.p99_us} />
    </>
  );
}

function Seconds({ suffered, caused }: { suffered: number; caused: number }) {
  if (suffered === 0 && caused === 0)
    return (
      <Text span size="sm" c="dimmed">
        none
      </Text>
    );
  return (
    <div style={{ whiteSpace: "nowrap" }}>
      <Text size="sm" fw={suffered > 0 ? 600 : undefined} c={suffered > 0 ? undefined : "dimmed"}>
        {suffered > 0 ? secondsText(suffered) : "none"}
      </Text>
      {caused > 0 && (
        <Text size="xs" style={{ color: "var(--ww-warn)" }}>
          caused {secondsText(caused)}
        </Text>
      )}
    </div>
  );
}

interface Context {
  host: string;
  pci: string;
  /** Undefined where the reader may not change anything. */
  onLimit: ((vf: VfIsolation) => void) | undefined;
}

/** The columns; what is missing sorts last in both directions. */
export function vfColumns({ host, pci, onLimit }: Context) {
  return [
    column.accessor((vf) => vfName(vf), {
      id: "holder",
      header: "VF",
      sortingFn: (a, b) => a.original.vf - b.original.vf,
      sortDescFirst: false,
      cell: ({ row: { original: vf } }) => (
        <div style={{ maxWidth: 210 }}>
          <VfLink {...{ host, pci, vf: vf.vf, pod: vf.pod }} />
        </div>
      ),
    }),
    column.accessor((vf) => vf.slo?.name ?? (vf.slo ? "" : undefined), {
      id: "slo",
      header: "SLO",
      cell: ({ row }) => <Promise vf={row.original} />,
      ...LAST,
    }),
    column.accessor((vf) => vf.tx_mbps ?? undefined, {
      id: "tx",
      header: "Sends",
      cell: ({ row }) => <RateCell vf={row.original} way="tx" />,
      sortDescFirst: true,
      ...LAST,
    }),
    column.accessor((vf) => vf.rx_mbps ?? undefined, {
      id: "rx",
      header: "Receives",
      cell: ({ row }) => <RateCell vf={row.original} way="rx" />,
      sortDescFirst: true,
      ...LAST,
    }),
    column.accessor((vf) => vf.delay_p99_us ?? undefined, {
      id: "delay",
      header: "Delay",
      cell: ({ row }) => <Delay vf={row.original} />,
      sortDescFirst: true,
      ...LAST,
    }),
    column.accessor((vf) => vf.broken_s_today + vf.aggressor_s_today, {
      id: "broken",
      header: "Broken today",
      cell: ({ row: { original: vf } }) => <Seconds suffered={vf.broken_s_today} caused={vf.aggressor_s_today} />,
      sortDescFirst: true,
    }),
    column.accessor(severity, {
      id: "state",
      header: "Now",
      cell: ({ row }) => <VfStateMark vf={row.original} />,
      sortDescFirst: true,
    }),
    ...(onLimit
      ? [
          column.display({
            id: "actions",
            header: "Actions",
            cell: ({ row: { original: vf } }) => (
              <Button
                size="compact-xs"
                variant={vf.role === "aggressor" ? "filled" : "default"}
                aria-label={`Limit the rate of ${vfName(vf)}`}
                onClick={() => onLimit(vf)}
              >
                Limit its rate…
              </Button>
            ),
          }),
        ]
      : []),
  ];
}
