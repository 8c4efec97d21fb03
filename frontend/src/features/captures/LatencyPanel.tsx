import { Select, Table, Text } from "@mantine/core";
import type { CaptureAnalysis, CaptureQueuePair } from "@/lib/api/types";
import { formatNs } from "@/lib/time/shortTimes";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import classes from "./Captures.module.css";
import { logShare } from "./captureText";
import { MoreRows, useShownRows } from "./MoreRows";
import { useCaptureVerdicts, useTransportModels } from "./queries";

interface Props {
  id: string;
  analysis: CaptureAnalysis;
  model: string | undefined;
  onModel: (model: string | undefined) => void;
}

type Published = readonly number[] | null;
type Figures = Record<"write" | "read", Record<"nack_generation_us" | "nack_reaction_us", Published>>;
type Measured = CaptureQueuePair["nack_generation"];

function Bar({
  name,
  measured,
  published,
  half,
}: {
  name: string;
  measured: Measured;
  published: Published;
  half: number;
}) {
  if (measured === null) return <Text size="sm">–</Text>;
  const [median, tail] = [Math.max(measured.p50_ns - half, 0), Math.max(measured.p99_ns - half, 0)];
  const share = (ns: number) => `${100 * logShare(ns)}%`;
  const [least = 0, most = 0] = published ?? [];
  const range = published && `published ${least === most ? "" : `${least} to `}${most} µs`;
  return (
    <>
      <div
        className={classes["track"]}
        role="img"
        aria-label={`${name}: median ${formatNs(median)}, 99th percentile ${formatNs(tail)}${range ? `, ${range}` : ""}`}
      >
        {published && (
          <div
            className={classes["published"]}
            style={{
              left: share(least * 1000),
              width: `${100 * (logShare(most * 1000) - logShare(least * 1000))}%`,
            }}
          />
        )}
        <div className={classes["measured"]} style={{ width: share(median) }} />
        <div className={classes["tail"]} style={{ left: share(tail) }} />
      </div>
      <Text size="xs" c="dimmed">
        {formatNs(median)} / {formatNs(tail)}
        {range && ` · ${range}`}
      </Text>
    </>
  );
}

function publishedOf(figures: Figures | undefined, row: CaptureQueuePair) {
  if (!figures) return { generation: null, reaction: null };
  const of = row.verbs.includes("READ response") ? figures.read : figures.write;
  return { generation: of.nack_generation_us, reaction: of.nack_reaction_us };
}

/** Generation and reaction of NACKs on a logarithmic scale, next to what is published of a model. */
export function LatencyPanel({ id, analysis, model, onModel }: Props) {
  const models = useTransportModels();
  const verdicts = useCaptureVerdicts(id, model);
  const rows = analysis.qps.filter((row) => row.nack_reaction !== null);
  const { shown, more } = useShownRows(rows);
  const figures = models.data?.items.find((each) => each.id === model);
  const half = Math.floor((analysis.half_rtt.rtt_ns ?? 0) / 2);
  return (
    <Panel
      title="Retransmission latency"
      aside={
        <Text size="xs" c="dimmed">
          {half > 0 ? `without half a round trip (${formatNs(half)}) each` : "as captured"}
        </Text>
      }
      actions={
        <Select
          aria-label="Compare with the published figures of"
          placeholder="Compare with a model"
          size="xs"
          w={220}
          clearable
          data={models.data?.items.map((each) => ({ value: each.id, label: each.name })) ?? []}
          value={model ?? null}
          onChange={(value) => onModel(value ?? undefined)}
        />
      }
      flush
    >
      {rows.length === 0 ? (
        <EmptyState title="No retransmission after a NACK">
          Nothing was lost, or only the sender’s timer noticed.
        </EmptyState>
      ) : (
        <div className={classes["scroll"]}>
          <HeadedTable
            label="Retransmission latency"
            titles={["Queue pair", "NACK generation", "NACK reaction", ...(figures ? ["Verdict"] : [])]}
          >
            {shown.map((row) => {
              const published = publishedOf(figures, row);
              const verdict = verdicts.data?.items.find(
                (each) => each.qpn === row.qpn && each.destination === row.destination,
              );
              return (
                <Table.Tr key={`${row.source} ${row.destination} ${row.network ?? ""} ${row.qpn}`}>
                  <Table.Td>
                    {row.qpn}{" "}
                    <Text span size="xs" c="dimmed">
                      of {row.destination}, {row.verbs.join(", ")}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Bar
                      name="NACK generation"
                      measured={row.nack_generation}
                      published={published.generation}
                      half={half}
                    />
                  </Table.Td>
                  <Table.Td>
                    <Bar name="NACK reaction" measured={row.nack_reaction} published={published.reaction} half={half} />
                  </Table.Td>
                  {figures && (
                    <Table.Td>
                      {verdict ? `Generation ${verdict.generation}, reaction ${verdict.reaction}` : "–"}
                    </Table.Td>
                  )}
                </Table.Tr>
              );
            })}
          </HeadedTable>
        </div>
      )}
      {figures && (
        <Text size="xs" c="dimmed" p={10}>
          {figures.source}
        </Text>
      )}
      <MoreRows more={more} left={rows.length - shown.length} />
    </Panel>
  );
}
