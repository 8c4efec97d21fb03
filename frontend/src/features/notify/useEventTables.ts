import { useMemo } from "react";
import { useStates } from "@/lib/api/useStates";
import type { EventTables } from "./events";

/** The tables of the catalogue whose states send webhooks. */
export function useEventTables(): EventTables {
  const incident = useStates("incident");
  const remedy = useStates("remedy");
  const rollout = useStates("rollout");
  return useMemo(() => ({ incident, remedy, rollout }), [incident, remedy, rollout]);
}
