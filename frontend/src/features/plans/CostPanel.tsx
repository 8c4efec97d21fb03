import { Button, Code, Progress, ScrollArea, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { PlanReport } from "@/lib/api/types";
import { formatNumber, plural } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { usePlanOperations } from "./queries";

/** What applying it costs while it lasts, and the room that it takes in the hyper mask. */
export function CostPanel({ id, report }: { id: string; report: PlanReport }) {
  const { cost, hyper, steps } = report;
  const [shown, setShown] = useState(false);
  const operations = usePlanOperations(id, shown);
  const share = hyper.capacity > 0 ? (100 * hyper.used) / hyper.capacity : 0;
  return (
    <Panel title="Cost">
      <Stack gap={8}>
        <Text size="sm">
          <b>{plural(cost.operations, "operation")}</b> in {formatDuration(cost.duration_s * 1000)},{" "}
          {formatNumber(cost.pace_per_s)} per second: {formatNumber(steps.activate)} added, {formatNumber(steps.remove)}{" "}
          removed, {formatNumber(steps.move)} to move masks.
        </Text>
        <Text size="sm">
          {cost.flows_in_software === 0 ? (
            "No flow with traffic is handled in software during the change."
          ) : (
            <>
              <b>{plural(cost.flows_in_software, "flow")}</b> {cost.flows_in_software === 1 ? "passes" : "pass"} in
              software during the change, each for at most {formatDuration(cost.longest_in_software_s * 1000)}: about{" "}
              {formatNumber(cost.packets_in_software)} packets, slower but forwarded identically.
            </>
          )}
        </Text>
        {report.released > 0 && (
          <Text size="sm">
            <b>{plural(report.released, "flow")}</b> {report.released === 1 ? "is" : "are"} not re-added, because an
            exact entry handles {report.released === 1 ? "its" : "their"} packets.
          </Text>
        )}
        <div>
          <Text size="sm" mb={4}>
            Hyper mask: <b>{formatNumber(hyper.used)}</b> of {formatNumber(hyper.capacity)} entries
            {report.left_to_software > 0 ? `; ${plural(report.left_to_software, "flow")} unchanged` : ""}
          </Text>
          <Progress value={share} size="sm" aria-label={`Hyper mask: ${hyper.used} of ${hyper.capacity} entries`} />
        </div>
        <Text size="sm" c="dimmed">
          Afterwards: {formatNumber(report.entries_after)} entries in the RNIC until those without packets age out.
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          style={{ alignSelf: "flex-start" }}
          aria-expanded={shown}
          onClick={() => setShown((was) => !was)}
        >
          {shown ? "Hide the operations" : "Show all operations"}
        </Button>
        {shown && (
          <QueryState query={operations} lines={4}>
            {(text) => (
              <ScrollArea.Autosize
                mah={260}
                type="auto"
                viewportProps={{ tabIndex: 0, role: "group", "aria-label": "Operations" }}
              >
                <Code block>{text}</Code>
              </ScrollArea.Autosize>
            )}
          </QueryState>
        )}
      </Stack>
    </Panel>
  );
}
