import { useConnection } from "@/lib/stream/LiveContext";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { plural } from "@/lib/format";
import classes from "./Shell.module.css";

/** Across the page once a connection is really lost: a first failed attempt alone is not worth a shift of the page. */
export function ConnectionBanner() {
  const { status, lastMessageAt, attempts } = useConnection();
  const { clock } = useTimeFormat();
  if (status !== "reconnecting" || attempts < 2) return null;
  return (
    <div role="alert" className={classes["banner"]} data-testid="connection-lost">
      ▲ {lastMessageAt === null ? "No live updates: the server does not answer." : `No live updates since ${clock(lastMessageAt)}: what you see may be old.`} Trying again by itself ({plural(attempts, "attempt")}).
    </div>
  );
}
