import { Progress, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Capture } from "@/lib/api/types";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { formatBytes, isOpen, verdictOf } from "./captureText";

const TITLES = ["File", "Verdict", "RoCE packets", "Queue pairs", "Retransmissions", "Size", "Uploaded"] as const;

function CaptureRow({ capture, incident }: { capture: Capture; incident: string | undefined }) {
  const now = useNow();
  const { summary } = capture;
  const verdict = verdictOf(capture);
  const count = (value: number | undefined) => value?.toLocaleString("en") ?? "–";
  return (
    <Table.Tr data-testid="capture" data-state={capture.state}>
      <Table.Td style={{ overflowWrap: "anywhere" }}>
        <Link to="/captures/$id" params={{ id: capture.id }} search={incident ? { incident } : {}}>
          {capture.name}
        </Link>
      </Table.Td>
      <Table.Td>
        <StatusMark tone={verdict.tone}>{verdict.text}</StatusMark>
        {isOpen(capture) && (
          <Progress value={100 * capture.progress} size="xs" mt={2} aria-label={`Analysis of ${capture.name}`} />
        )}
      </Table.Td>
      <Table.Td>{count(summary?.roce)}</Table.Td>
      <Table.Td>{count(summary?.rc_qps)}</Table.Td>
      <Table.Td>
        {count(summary?.retransmissions)}
        {summary && summary.timeouts > 0 && (
          <Text span size="xs" c="dimmed">
            {" "}
            {summary.timeouts.toLocaleString("en")} by timeout
          </Text>
        )}
      </Table.Td>
      <Table.Td>{formatBytes(capture.size_bytes)}</Table.Td>
      <Table.Td>
        {formatAgo(capture.created_at, now)} by {capture.uploaded_by}
      </Table.Td>
    </Table.Tr>
  );
}

/** Captures, newest first. */
export function CaptureTable({ captures, incident }: { captures: readonly Capture[]; incident: string | undefined }) {
  return (
    <HeadedTable label="Captures" titles={TITLES}>
      {captures.map((capture) => (
        <CaptureRow key={capture.id} capture={capture} incident={incident} />
      ))}
    </HeadedTable>
  );
}
