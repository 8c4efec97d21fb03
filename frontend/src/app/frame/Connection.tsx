import { Tooltip } from "@mantine/core";
import { plural } from "@/lib/format";
import { useConnection } from "@/lib/stream/LiveContext";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { StatusMark } from "@/lib/ui/StatusMark";
import classes from "./Shell.module.css";

/** Live, connecting, or stale since when: distinguished by word, shape and colour. */
export function ConnectionIndicator() {
  const { status, lastMessageAt, attempts } = useConnection();
  const { clock } = useTimeFormat();
  const now = useNow();
  const live = status === "live";
  const lost = attempts > 0;
  const text = live
    ? "Live"
    : !lost
      ? "Connecting"
      : lastMessageAt === null
        ? "Not connected"
        : `Stale since ${clock(lastMessageAt)}`;
  const hint = lost
    ? "Reconnecting"
    : lastMessageAt === null
      ? "Opening the live stream"
      : `Last message ${formatDuration(now - lastMessageAt)} ago`;
  return (
    <Tooltip label={hint}>
      <span role="status" data-testid="connection" data-status={status}>
        <StatusMark tone={live ? "good" : lost ? "warn" : "quiet"}>{text}</StatusMark>
      </span>
    </Tooltip>
  );
}

/** Across the page once a connection is really lost: a first failed attempt alone is not worth a shift of the page. */
export function ConnectionBanner() {
  const { status, lastMessageAt, attempts } = useConnection();
  const { clock } = useTimeFormat();
  if (status !== "reconnecting" || attempts < 2) return null;
  return (
    <div role="alert" className={classes["banner"]} data-testid="connection-lost">
      ▲{" "}
      {lastMessageAt === null
        ? "No live updates: the server does not answer."
        : `No live updates since ${clock(lastMessageAt)}: this page may be out of date.`}{" "}
      Reconnecting automatically ({plural(attempts, "attempt")}).
    </div>
  );
}
