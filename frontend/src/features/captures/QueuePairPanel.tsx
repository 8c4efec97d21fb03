import { Button, Table, Text } from "@mantine/core";
import type { CaptureAnalysis, CaptureDetail, CaptureQueuePair } from "@/lib/api/types";
import { formatShare, plural } from "@/lib/format";
import { formatNs } from "@/lib/time/shortTimes";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import classes from "./Captures.module.css";
import { MoreRows, useShownRows } from "./MoreRows";

const TITLES = [
  "Queue pair",
  "From",
  "Verb",
  "Packets",
  "Resent",
  "Without a loss",
  "Useful",
  "CE-marked",
  "CNPs",
  "NACK generation",
  "NACK reaction",
  "Chart",
] as const;

interface Props {
  capture: CaptureDetail;
  analysis: CaptureAnalysis;
  onChart: (place: number) => void;
}

function latency(figures: CaptureQueuePair["nack_generation"]): string {
  return figures === null ? "–" : `${formatNs(figures.p50_ns)} / ${formatNs(figures.p99_ns)}`;
}

/** One row per direction of data; latencies as median and 99th percentile. */
export function QueuePairPanel({ capture, analysis, onChart }: Props) {
  const { shown, more } = useShownRows(analysis.qps);
  const total = analysis.qps.length + analysis.omitted.qps;
  const chartOf = (row: CaptureQueuePair) =>
    capture.series.find(
      (each) =>
        each.qpn === row.qpn &&
        each.destination === row.destination &&
        each.source === row.source &&
        each.network === row.network,
    );
  return (
    <Panel
      title="Queue pairs"
      aside={
        <Text size="xs" c="dimmed">
          {plural(total, "direction")} of data; latencies: median / 99th percentile, as captured
        </Text>
      }
      flush
    >
      {total === 0 && <EmptyState title="No data of reliable connections">Is the UDP port another one?</EmptyState>}
      {total > 0 && (
        <div className={classes["scroll"]}>
          <HeadedTable label="Queue pairs" titles={TITLES}>
            {shown.map((row) => {
              const chart = chartOf(row);
              const where = row.network === null ? row.destination : `${row.destination}, network ${row.network}`;
              return (
                <Table.Tr key={`${row.source} ${where} ${row.qpn}`} data-testid="queue-pair">
                  <Table.Td>
                    {row.qpn}{" "}
                    <Text span size="xs" c="dimmed">
                      of {where}
                    </Text>
                  </Table.Td>
                  <Table.Td>{row.source}</Table.Td>
                  <Table.Td>{row.verbs.join(", ")}</Table.Td>
                  <Table.Td>{row.packets.toLocaleString("en")}</Table.Td>
                  <Table.Td>
                    {row.retransmissions.toLocaleString("en")}
                    {row.timeouts > 0 && ` (${row.timeouts.toLocaleString("en")} by timeout)`}
                  </Table.Td>
                  <Table.Td>{row.spurious.toLocaleString("en")}</Table.Td>
                  <Table.Td>{row.useful_share === null ? "–" : formatShare(row.useful_share)}</Table.Td>
                  <Table.Td>{formatShare(row.packets > 0 ? row.ce_marked / row.packets : null)}</Table.Td>
                  <Table.Td>{row.cnps.toLocaleString("en")}</Table.Td>
                  <Table.Td>{latency(row.nack_generation)}</Table.Td>
                  <Table.Td>{latency(row.nack_reaction)}</Table.Td>
                  <Table.Td>
                    {chart && (
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Show QP ${row.qpn} of ${where} in the chart`}
                        onClick={() => onChart(chart.place)}
                      >
                        Show
                      </Button>
                    )}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </HeadedTable>
        </div>
      )}
      <MoreRows more={more} left={total - shown.length} />
    </Panel>
  );
}
