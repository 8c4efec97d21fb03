import { useMemo } from "react";
import { useStates } from "@/lib/api/useStates";
import type { EventTables } from "./events";

/** The tables of the catalogue whose states send webhooks. */
export function useEventTables(): EventTables {
  const incident = useStates("incident");
  const remedy = useStates("remedy");
  const rollout = useStates("rollout");
  const campaign = useStates("campaign");
  return useMemo(() => ({ incident, remedy, rollout, campaign }), [incident, remedy, rollout, campaign]);
}
