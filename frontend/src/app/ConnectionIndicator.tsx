import { Tooltip } from "@mantine/core";
import { useConnection } from "@/lib/stream/LiveContext";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { StatusMark } from "@/lib/ui/StatusMark";

/** Live, connecting, or stale since when: told apart by word, shape and colour. */
export function ConnectionIndicator() {
  const { status, lastMessageAt, attempts } = useConnection();
  const { clock } = useTimeFormat();
  const now = useNow();
  const live = status === "live";
  const lost = attempts > 0;
  const text = live ? "Live" : !lost ? "Connecting" : lastMessageAt === null ? "Not connected" : `Stale since ${clock(lastMessageAt)}`;
  const hint = lost ? "Trying to connect again" : lastMessageAt === null ? "Opening the live stream" : `Last message ${formatDuration(now - lastMessageAt)} ago`;
  return (
    <Tooltip label={hint}>
      <span role="status" data-testid="connection" data-status={status}>
        <StatusMark tone={live ? "good" : lost ? "warn" : "quiet"}>{text}</StatusMark>
      </span>
    </Tooltip>
  );
}
