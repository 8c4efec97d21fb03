import { useQuery } from "@tanstack/react-query";
import { FLEET, useFleetLoader, useFleetState } from "./LiveContext";

/** RNICs that left the fleet are only noticed by a full load; deltas speak of the living. */
const FULL_RELOAD_MS = 5 * 60_000;

/** The live fleet and the state of its loading. */
export function useFleet() {
  const load = useFleetLoader();
  const query = useQuery({
    queryKey: [FLEET],
    queryFn: load,
    refetchInterval: FULL_RELOAD_MS,
    staleTime: FULL_RELOAD_MS,
  });
  return { query, state: useFleetState() };
}
