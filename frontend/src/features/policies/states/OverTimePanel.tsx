import { Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import type { Policy } from "@/lib/api/types";
import { type RangeName, RANGES } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { usePolicySeries } from "../queries";
import { summaryText } from "./segments";
import { StateStrip, StripLegend } from "./StateStrip";

/** The policy's state over the fleet, over time. */
export function OverTimePanel({ policy }: { policy: Policy }) {
  const [range, setRange] = useState<RangeName>("1h");
  const series = usePolicySeries(policy.id, { range });
  const { time } = useTimeFormat();
  return (
    <Panel
      title="Verdicts over time"
      aside={<StripLegend />}
      actions={
        <SegmentedControl
          aria-label="Time range"
          value={range}
          onChange={(value) => setRange(value as RangeName)}
          data={Object.keys(RANGES).filter((name) => name !== "5m")}
        />
      }
    >
      <QueryState query={series} lines={2}>
        {(data) => (
          <>
            <StateStrip
              label={`Verdicts of ${policy.id}`}
              times={data.times}
              states={data.states}
              violations={data.violations}
              stepS={data.step_s}
            />
            <Group justify="space-between" mt={2}>
              <Text size="xs" c="dimmed">
                {time(data.from)}
              </Text>
              <Text size="xs">{summaryText(data.states, data.violations, data.step_s)}</Text>
              <Text size="xs" c="dimmed">
                {time(data.to)}
              </Text>
            </Group>
          </>
        )}
      </QueryState>
    </Panel>
  );
}
