import { Select, Text } from "@mantine/core";
import { useMemo } from "react";
import { SequenceChart } from "@/charts/sequence/SequenceChart";
import type { CaptureDetail } from "@/lib/api/types";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { queuePairText, type SeriesAnswer, sequenceOf } from "./captureText";
import { useCaptureSeries } from "./queries";

interface Props {
  capture: CaptureDetail;
  place: number;
  onPlace: (place: number) => void;
}

function Drawn({ series }: { series: SeriesAnswer & Parameters<typeof queuePairText>[0] }) {
  const model = useMemo(() => sequenceOf(series), [series]);
  return (
    <>
      <SequenceChart model={model} title={queuePairText(series)} />
      <Text size="xs" c="dimmed">
        Times count from the queue pair’s first packet.{" "}
        {series.stride > 1 && `One dot stands for ${series.stride.toLocaleString("en")} packets. `}
        Drag the handles below the chart, or turn the wheel over it, to zoom.
      </Text>
    </>
  );
}

/** PSNs over time of the chosen queue pair. */
export function SequencePanel({ capture, place, onPlace }: Props) {
  const known = capture.series.some((each) => each.place === place);
  const series = useCaptureSeries(capture.id, known ? place : (capture.series[0]?.place ?? 0));
  return (
    <Panel
      title="Sequence numbers over time"
      actions={
        <Select
          aria-label="Queue pair of the chart"
          size="xs"
          w={330}
          allowDeselect={false}
          searchable
          data={capture.series.map((each) => ({
            value: String(each.place),
            label: `${queuePairText(each)}${each.responses ? ", responses" : ""}: ${each.retransmissions.toLocaleString("en")} resent`,
          }))}
          value={String(known ? place : (capture.series[0]?.place ?? 0))}
          onChange={(value) => value !== null && onPlace(Number(value))}
        />
      }
    >
      <QueryState
        query={series}
        lines={8}
        isEmpty={(data) => data.points.length === 0}
        empty={<EmptyState title="No packets to draw" />}
      >
        {(data) => <Drawn series={data} />}
      </QueryState>
    </Panel>
  );
}
