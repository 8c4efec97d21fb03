import { List, Text } from "@mantine/core";
import type { LabReport } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { StatusMark } from "@/lib/ui/StatusMark";

/** An unfinished search: why it ended, and what it would have tested next. */
export function NextPanel({ report }: { report: LabReport }) {
  return (
    <Panel title="Incomplete">
      <StatusMark tone="warn">{`The search ended early: ${report.stopped ?? "for an unknown reason"}.`}</StatusMark>
      {report.next.length > 0 && (
        <>
          <Text size="sm" mt={8} mb={4}>
            It would test next:
          </Text>
          <List size="sm">
            {report.next.map((each) => (
              <List.Item key={each}>{each}</List.Item>
            ))}
          </List>
        </>
      )}
    </Panel>
  );
}
