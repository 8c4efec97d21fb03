import { Anchor, Stack, Text } from "@mantine/core";
import { useId, useState } from "react";
import type { Rnic } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { StatusMark } from "@/lib/ui/StatusMark";
import { reportText } from "./status";

/** Reports that are shown unasked: the cordon and what is oldest, which the API lists first. */
const MOST = 3;

/** What NVSentinel says of the node or of the RNIC, a line each. Nothing where it says nothing. */
export function NvsentinelNotes({ node, now }: { node: Rnic["node"]; now: number }) {
  const [all, setAll] = useState(false);
  const id = useId();
  if (node === null || node.nvsentinel.length === 0) return null;
  const reports = node.nvsentinel;
  // A button that hides a single line would take as much room as the line.
  const folds = reports.length > MOST + 1;
  return (
    <div>
      <Stack gap={2} mt={6} component="ul" p={0} m={0} id={id} aria-label="NVSentinel" style={{ listStyle: "none" }}>
        {(folds && !all ? reports.slice(0, MOST) : reports).map((report) => (
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
      {folds && (
        <Anchor
          component="button"
          size="sm"
          mih={24}
          aria-expanded={all}
          aria-controls={id}
          onClick={() => setAll(!all)}
        >
          {all ? "Show less of NVSentinel" : `Show ${plural(reports.length - MOST, "more report")} of NVSentinel`}
        </Anchor>
      )}
    </div>
  );
}
