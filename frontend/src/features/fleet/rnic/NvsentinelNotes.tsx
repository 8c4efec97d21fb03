import { Stack, Text } from "@mantine/core";
import type { Rnic } from "@/lib/api/types";
import { StatusMark } from "@/lib/ui/StatusMark";
import { reportText } from "./status";

/** What NVSentinel says of the node or of the RNIC, a line each. Nothing where it says nothing. */
export function NvsentinelNotes({ node, now }: { node: Rnic["node"]; now: number }) {
  if (node === null || node.nvsentinel.length === 0) return null;
  return (
    <Stack gap={2} mt={6} component="ul" p={0} m={0} aria-label="NVSentinel" style={{ listStyle: "none" }}>
      {node.nvsentinel.map((report) => (
        <li key={`${report.name} ${report.since}`}>
          <StatusMark tone="warn">{reportText(report, now)}</StatusMark>
          {report.text !== "" && (
            <Text span size="xs" c="dimmed" ml={8} style={{ overflowWrap: "anywhere" }}>
              {report.text}
            </Text>
          )}
        </li>
      ))}
    </Stack>
  );
}
