import "@/lib/ui/mantineMore.css";
import { Grid, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { SeriesModel } from "@/charts/series/model";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { SurfaceModel } from "@/charts/surface/model";
import { SurfaceChart } from "@/charts/surface/SurfaceChart";
import { Problem } from "@/lib/api/problem";
import type { ProfileSurface, RnicPerformance } from "@/lib/api/types";
import { formatNumber, formatShare, formatValue } from "@/lib/format";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { estimateText, verdictOf } from "./profileText";
import { edgeFor, useRnicPerformance, useSurface } from "./queries";

function Now({ found }: { found: RnicPerformance }) {
  const verdict = verdictOf(found);
  return (
    <Stack gap={4}>
      <dl
        style={{ margin: 0, display: "grid", gridTemplateColumns: "auto 1fr", gap: "2px 14px", fontSize: "0.875rem" }}
      >
        <dt>Lookups per packet</dt>
        <dd style={{ margin: 0 }}>
          {formatNumber(found.q_l)} here, {formatNumber(found.q_r)} at the peers
          {found.q_r_basis === "own_ingress" && " (unknown: its own ingress chain is used instead)"}
          {found.q_r_basis === "peers" &&
            found.peers_known !== null &&
            ` (${formatShare(found.peers_known)} of its packets go to reporting RNICs)`}
        </dd>
        <dt>Expected bandwidth</dt>
        <dd style={{ margin: 0 }} data-expected="bandwidth">
          {found.bandwidth_gbps ? estimateText(found.bandwidth_gbps, "Gbit/s") : "–"}, {formatNumber(found.head_gbps)}{" "}
          at the head
        </dd>
        <dt>Measured bandwidth</dt>
        <dd style={{ margin: 0 }}>
          {formatValue(found.measured_gbps, "Gbit/s")} sent
          {found.measured_gbps !== null && `, mean of the same ${found.minutes} minutes`}
        </dd>
        <dt>Expected latency</dt>
        <dd style={{ margin: 0 }}>
          {found.latency_us ? estimateText(found.latency_us, "µs") : "–"}. Not measured in production; run perftest.
        </dd>
      </dl>
      <StatusMark tone={verdict.tone}>{verdict.text}</StatusMark>
      <Text size="xs" c="dimmed">
        <Link to="/profiles/$model" params={{ model: found.model }}>
          Profile {found.model}
        </Link>
        , {found.number === 0 ? "built-in" : `version ${found.number}`}. A bandwidth difference that lasts for minutes
        and that no symptom explains opens an “unexplained” incident.
      </Text>
    </Stack>
  );
}

function Over({ found }: { found: RnicPerformance }) {
  const { time, zone } = useTimeFormat();
  const model = useMemo<SeriesModel>(() => {
    const timesMs = found.path.map(({ at }) => Date.parse(at));
    return {
      timesMs,
      lines: [
        {
          name: "measured",
          label: "Measured",
          unit: "Gbit/s",
          values: found.path.map(({ measured_gbps }) => measured_gbps),
        },
        {
          name: "expected",
          label: "Expected",
          unit: "Gbit/s",
          values: found.path.map(({ expected_gbps }) => expected_gbps),
          dashed: true,
        },
      ],
      intervals: [],
      fromMs: timesMs[0] ?? 0,
      toMs: timesMs[timesMs.length - 1] ?? 1,
      formatTime: (ms) => formatTime(ms, zone).slice(11, 16),
      formatTooltipTime: time,
    };
  }, [found.path, zone, time]);
  return <SeriesChart model={model} title="Expected and measured bandwidth" />;
}

function Path({ found, surface }: { found: RnicPerformance; surface: ProfileSurface }) {
  const { time } = useTimeFormat();
  const model = useMemo<SurfaceModel>(
    () => ({
      quantity: "bandwidth",
      qL: surface.q_l,
      qR: surface.q_r,
      values: surface.bandwidth_gbps,
      points: [],
      path: found.path.map((point) => ({
        label: time(point.at),
        qL: point.q_l,
        qR: point.q_r,
        note: `expected ${formatValue(point.expected_gbps, "Gbit/s")}, measured ${formatValue(point.measured_gbps, "Gbit/s")}`,
      })),
    }),
    [found.path, surface, time],
  );
  return <SurfaceChart model={model} title={found.model} height={320} />;
}

function Known({ found }: { found: RnicPerformance }) {
  const surface = useSurface(found.model, found.number, edgeFor(found.path));
  return (
    <Grid gap={12}>
      <Grid.Col span={{ base: 12, xl: 6 }}>
        <Stack gap={10}>
          {found.at ? (
            <Now found={found} />
          ) : (
            <EmptyState title="No comparison available">
              No packet was matched in the last ten minutes, so lookups are unknown.
            </EmptyState>
          )}
          {found.path.length > 1 && <Over found={found} />}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, xl: 6 }}>
        <QueryState query={surface} lines={8}>
          {(data) => <Path found={found} surface={data} />}
        </QueryState>
        <Text size="xs" c="dimmed">
          Colours: what {found.model} gives, in Gbit/s. The line is where this RNIC has been in the last 6 hours, the
          dot where it is now.
        </Text>
      </Grid.Col>
    </Grid>
  );
}

/** What the model of its RNIC expects, against what it does, now and over the last six hours. */
export function ExpectedPanel({ host, pci }: { host: string; pci: string }) {
  const performance = useRnicPerformance(host, pci);
  const unknown = performance.error instanceof Problem && performance.error.status === 404 && !performance.data;
  return (
    <Panel
      title="Expected and measured"
      aside={<span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>path of the last 6 hours</span>}
    >
      {unknown ? (
        <EmptyState title="No expectation for this RNIC">Its model has no profile.</EmptyState>
      ) : (
        <QueryState query={performance} lines={8}>
          {(found) => <Known found={found} />}
        </QueryState>
      )}
    </Panel>
  );
}
