import "@/lib/ui/mantineMore.css";
import { Grid, Group, Select, Table, Text, UnstyledButton } from "@mantine/core";
import { useMemo, useState } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { Forecast } from "@/lib/api/types";
import { formatShare, formatValue } from "@/lib/format";
import { formatDuration, formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { fanOf } from "./fanModel";
import { drawnFirst, fanModel, pastModel, recordText, targetsOf } from "./models";
import { useForecast, usePastForecasts } from "./queries";
import { chanceText, confidenceText, declineText, intervalText, reachText } from "./times";

const WIDTH = 150;
const HEIGHT = 34;

/** The next hour of one wall, small: the 90% interval, the median forecast, the limit, and where they meet. */
function WallFan({ wall, forecast }: { wall: Forecast["walls"][number]; forecast: Forecast }) {
  const fan = fanOf(wall, forecast, WIDTH, HEIGHT);
  if (!fan) return <>unknown</>;
  return (
    <svg
      role="img"
      aria-label={fan.text}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      style={{ display: "block", overflow: "visible" }}
    >
      <title>{fan.text}</title>
      <polygon points={fan.band} fill="var(--ww-accent)" opacity={0.25} />
      <polyline points={fan.likely} fill="none" stroke="var(--ww-accent)" strokeWidth={1.5} />
      <line x1={0} x2={WIDTH} y1={fan.limit} y2={fan.limit} stroke="var(--ww-bad)" strokeDasharray="4 2" />
      <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} stroke="var(--ww-line)" />
      {fan.meets && <circle cx={fan.meets.x} cy={fan.meets.y} r={3.5} fill="var(--ww-bad)" stroke="var(--ww-panel)" />}
    </svg>
  );
}

function WallTimes({
  forecast,
  drawn,
  onDraw,
}: {
  forecast: Forecast;
  drawn: string | undefined;
  onDraw: (wall: string) => void;
}) {
  return (
    <HeadedTable
      label="When limits are reached"
      titles={["Limit", "Now", "Limit at", "The next hour", "Reached", "90% interval", "Chance"]}
    >
      {forecast.walls.map((wall) => (
        <Table.Tr key={wall.wall} data-wall={wall.wall}>
          <Table.Td>
            <UnstyledButton
              aria-pressed={wall.wall === drawn}
              title="Show its next hour"
              style={{ fontSize: "inherit", fontWeight: wall.wall === drawn ? 700 : 400, color: "var(--ww-accent)" }}
              onClick={() => onDraw(wall.wall)}
            >
              {wall.label}
            </UnstyledButton>
          </Table.Td>
          <Table.Td>{formatValue(wall.now, wall.unit)}</Table.Td>
          <Table.Td>{formatValue(wall.limit, wall.unit)}</Table.Td>
          <Table.Td>
            <WallFan wall={wall} forecast={forecast} />
          </Table.Td>
          <Table.Td style={{ fontWeight: wall.likely_in_s === null ? 400 : 700 }}>
            {wall.now === null ? "unknown" : reachText(wall)}
          </Table.Td>
          <Table.Td>{intervalText(wall)}</Table.Td>
          <Table.Td>{chanceText(wall.chance)}</Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}

function Summary({ forecast }: { forecast: Forecast }) {
  const { clock } = useTimeFormat();
  const { decline } = forecast;
  return (
    <Group gap={10}>
      <Text size="xs" c="dimmed">
        forecast at {clock(forecast.at)}
        {forecast.forecaster && ` by model ${forecast.forecaster}`}
      </Text>
      {forecast.stale && <StatusMark tone="warn">Stale</StatusMark>}
      {decline?.since != null && (
        <StatusMark tone="bad">{`Within the hour, bandwidth ${declineText(decline.share, decline.in_s)}`}</StatusMark>
      )}
      {decline?.since != null && decline.chance != null && (
        <Text size="xs" c="dimmed">
          chance {formatShare(decline.chance)}, since {clock(decline.since)}
        </Text>
      )}
      {forecast.q_r_basis === "own_ingress" && (
        <Text size="xs" c="dimmed">
          peers unknown: the RNIC&apos;s own ingress chain is used instead
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {confidenceText(forecast)}
      </Text>
      {forecast.policy_violated && (
        <StatusMark tone="warn">
          A policy was violated here within the last hour: if its counters are wrong, so is this forecast
        </StatusMark>
      )}
    </Group>
  );
}

const SPANS = [
  { value: "6", label: "6 hours" },
  { value: "24", label: "24 hours" },
  { value: "168", label: "7 days" },
];

interface Props {
  host: string;
  pci: string;
  /** Its host reports no flows, which is why there is no forecast. */
  withoutFlows: boolean;
}

/** The next hour of one RNIC, and how accurate its forecasts were so far. */
export function ForecastPanel({ host, pci, withoutFlows }: Props) {
  const forecast = useForecast(host, pci);
  const [chosen, setChosen] = useState<string | null>(null);
  const [horizon, setHorizon] = useState("900");
  const [hours, setHours] = useState("6");
  const { zone } = useTimeFormat();
  const targets = useMemo(() => (forecast.data ? targetsOf(forecast.data) : []), [forecast.data]);
  const first = forecast.data ? drawnFirst(forecast.data) : "bandwidth_gbps";
  const target =
    targets.find((each) => each.key === chosen) ?? targets.find((each) => each.key === first) ?? targets[0];
  const past = usePastForecasts(host, pci, target?.key ?? "bandwidth_gbps", Number(horizon), Number(hours));
  const formats = useMemo(
    () => ({ axis: (ms: number) => formatTime(ms, zone).slice(11, 16), tooltip: (ms: number) => formatTime(ms, zone) }),
    [zone],
  );
  const fan = useMemo(
    () => (forecast.data && target ? fanModel(forecast.data, target, formats) : null),
    [forecast.data, target, formats],
  );
  const record = useMemo(() => {
    const axis = (ms: number) => formatTime(ms, zone).slice(Number(hours) > 24 ? 5 : 11, 16);
    return past.data ? pastModel(past.data, { ...formats, axis }) : null;
  }, [past.data, formats, zone, hours]);
  return (
    <Panel
      title="Forecast"
      aside={forecast.data && <Summary forecast={forecast.data} />}
      actions={
        target && (
          <Select
            aria-label="Metric"
            size="xs"
            allowDeselect={false}
            value={target.key}
            onChange={setChosen}
            data={targets.map((each) => ({ value: each.key, label: each.label }))}
          />
        )
      }
    >
      <QueryState
        query={forecast}
        lines={6}
        isEmpty={(data) => data === null}
        empty={
          withoutFlows ? (
            <EmptyState title="No forecast without flows">
              Flows are not measured on this host, and forecasts are about their limits and what they do to bandwidth.
            </EmptyState>
          ) : (
            <EmptyState title="No forecast yet">
              The first arrives within two minutes of the first samples. If none arrives, check that the forecast job is
              running.
            </EmptyState>
          )
        }
      >
        {(data) =>
          data && (
            <Grid gap={12}>
              <Grid.Col span={12}>
                <WallTimes forecast={data} drawn={target?.key} onDraw={setChosen} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 6 }}>
                <Text size="sm">Next hour: {target?.label}</Text>
                {fan && target && <SeriesChart model={fan} title={`${target.label} in the next hour`} />}
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 6 }}>
                <Group justify="space-between">
                  <Text size="sm">Predicted vs. actual</Text>
                  <Group gap={6}>
                    <Select
                      aria-label="Time range"
                      size="xs"
                      w={110}
                      allowDeselect={false}
                      value={hours}
                      onChange={(value) => setHours(value ?? "6")}
                      data={SPANS}
                    />
                    <Select
                      aria-label="Lead time"
                      size="xs"
                      w={130}
                      allowDeselect={false}
                      value={horizon}
                      onChange={(value) => setHorizon(value ?? "900")}
                      data={data.horizons_s.map((seconds) => ({
                        value: String(seconds),
                        label: `${formatDuration(seconds * 1000)} before`,
                      }))}
                    />
                  </Group>
                </Group>
                <QueryState
                  query={past}
                  lines={4}
                  isEmpty={(found) => found.items.length === 0}
                  empty={
                    <EmptyState title="No past forecasts yet">
                      They appear here a few minutes after the first.
                    </EmptyState>
                  }
                >
                  {(found) =>
                    record &&
                    target && (
                      <>
                        <SeriesChart model={record} title={`${target.label}: predicted vs. actual`} />
                        <Text size="xs" c="dimmed">
                          {recordText(found)}
                        </Text>
                      </>
                    )
                  }
                </QueryState>
              </Grid.Col>
            </Grid>
          )
        }
      </QueryState>
    </Panel>
  );
}
