import { Table, Text } from "@mantine/core";
import type { CaptureAnalysis } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { violationText } from "./captureText";
import { MoreRows, useShownRows } from "./MoreRows";

/** Frames after which no go-back-N state machine could be in a valid state. */
export function ViolationPanel({ analysis }: { analysis: CaptureAnalysis }) {
  const { violations, omitted } = analysis;
  const { shown, more } = useShownRows(violations);
  const total = violations.length + omitted.violations;
  return (
    <Panel
      title="Violations of go-back-N"
      aside={
        <Text size="xs" c="dimmed">
          {plural(total, "violation")}
        </Text>
      }
      flush
    >
      <HeadedTable label="Violations" titles={["Frame", "Queue pair", "What is wrong"]}>
        {shown.map(({ frame, kind, qpn }) => (
          <Table.Tr key={`${frame} ${kind}`} data-testid="violation">
            <Table.Td>{frame.toLocaleString("en")}</Table.Td>
            <Table.Td>{qpn}</Table.Td>
            <Table.Td>
              {violationText(kind)}{" "}
              <Text span size="xs" c="dimmed">
                {kind}
              </Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      <MoreRows more={more} left={total - shown.length} />
    </Panel>
  );
}
