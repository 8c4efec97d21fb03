import { Tooltip } from "@mantine/core";
import { useConnection } from "@/lib/stream/LiveContext";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { StatusMark } from "@/lib/ui/StatusMark";

/** Live, reconnecting, or stale since when: told apart by word, shape and colour. */
export function ConnectionIndicator() {
  const { status, lastMessageAt, attempts } = useConnection();
  const { clock } = useTimeFormat();
  const now = useNow();
  if (status === "live") {
    return (
      <Tooltip label={lastMessageAt === null ? "Connected" : `Last message ${formatDuration(now - lastMessageAt)} ago`}>
        <span role="status" data-testid="connection" data-status="live">
          <StatusMark tone="good">Live</StatusMark>
        </span>
      </Tooltip>
    );
  }
  const text = lastMessageAt === null ? (attempts > 1 ? "Not connected" : "Connecting") : `Stale since ${clock(lastMessageAt)}`;
  return (
    <Tooltip label={attempts > 0 ? `Reconnecting, attempt ${attempts}. What you see may be old.` : "Opening the live stream"}>
      <span role="status" data-testid="connection" data-status={status}>
        <StatusMark tone={attempts > 1 || lastMessageAt !== null ? "warn" : "quiet"}>{attempts > 0 ? `${text} · reconnecting` : text}</StatusMark>
      </span>
    </Tooltip>
  );
}
