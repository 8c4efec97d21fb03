import { Table, Text } from "@mantine/core";
import type { CaptureAnalysis } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatNs } from "@/lib/time/shortTimes";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import classes from "./Captures.module.css";
import { MoreRows, useShownRows } from "./MoreRows";

const TITLES = [
  "Frame",
  "Queue pair",
  "PSN",
  "Kind",
  "Iteration",
  "Trigger frame",
  "NACK frame",
  "NACK generation",
  "NACK reaction",
] as const;

/** Each time that a sender went back, by frame numbers. */
export function RetransmissionPanel({ analysis }: { analysis: CaptureAnalysis }) {
  const { retransmissions, omitted } = analysis;
  const { shown, more } = useShownRows(retransmissions);
  const total = retransmissions.length + omitted.retransmissions;
  const frame = (number: number | null | undefined) => number?.toLocaleString("en") ?? "–";
  return (
    <Panel
      title="Retransmissions"
      aside={
        <Text size="xs" c="dimmed">
          {plural(total, "retransmission")}; frames as other programs number them, latencies as captured
        </Text>
      }
      flush
    >
      <div className={classes["scroll"]}>
        <HeadedTable label="Retransmissions" titles={TITLES}>
          {shown.map((row) => (
            <Table.Tr key={row.frame_retransmission} data-testid="retransmission">
              <Table.Td>{frame(row.frame_retransmission)}</Table.Td>
              <Table.Td>{row.qpn}</Table.Td>
              <Table.Td>{row.psn.toLocaleString("en")}</Table.Td>
              <Table.Td>{row.kind === "nack" ? "NACK" : "timeout"}</Table.Td>
              <Table.Td>{row.iteration}</Table.Td>
              <Table.Td>{frame(row.frame_trigger)}</Table.Td>
              <Table.Td>{frame(row.frame_nack)}</Table.Td>
              <Table.Td>{formatNs(row.nack_generation_ns)}</Table.Td>
              <Table.Td>{formatNs(row.nack_reaction_ns)}</Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      </div>
      <MoreRows more={more} left={total - shown.length} />
    </Panel>
  );
}
