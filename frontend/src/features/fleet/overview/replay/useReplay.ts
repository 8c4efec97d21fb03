import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { FleetState } from "@/lib/stream/fleetStore";
import { byRow } from "../byRow";
import { replayed } from "./replayed";

/** What a past minute was does not change; the newest may still be missing the last of its samples. */
const KEEP_MS = 60_000;

/** The fleet of a past minute instead of the live one, and the headroom to one limit then. Nothing while `minute` is missing. */
export function useReplay(live: FleetState, minute: string | undefined, wall: string | null) {
  const query = useQuery({
    queryKey: ["fleet-replay", minute, wall],
    enabled: minute !== undefined && live.asOf !== null,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/fleet/replay", {
          params: { query: { at: minute ?? "", ...(wall === null ? {} : { wall }) } },
        }),
      ),
    staleTime: KEEP_MS,
    placeholderData: keepPreviousData, // the minute before stays on screen until this one has come
  });
  const then = minute === undefined ? undefined : query.data;
  // Live values go on changing in place; what is replayed depends on them by their identities alone.
  const state = useMemo(() => (then ? replayed(live, then) : null), [then, live.shape]); // eslint-disable-line react-hooks/exhaustive-deps
  const headrooms = useMemo(
    () => (then && wall !== null ? byRow(live, then, then.wall_headroom) : null),
    [then, wall, live.shape], // eslint-disable-line react-hooks/exhaustive-deps
  );
  return { query, state, headrooms };
}
