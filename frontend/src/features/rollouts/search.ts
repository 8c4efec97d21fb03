import { type FleetFilters, parseFilters } from "@/shared/fleet/filters";

/** A rollout that is being prepared, as it stands in the URL: the fleet's filters select targets; with its action and incident. */
export interface RolloutSearch extends FleetFilters {
  action?: string;
  incident?: string;
}

const ACTION = /^[a-z][a-z0-9-]{0,63}$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function parseRolloutSearch(search: Record<string, unknown>): RolloutSearch {
  const { action, incident } = search;
  return {
    ...parseFilters(search),
    ...(typeof action === "string" && ACTION.test(action) ? { action } : {}),
    ...(typeof incident === "string" && ID.test(incident) ? { incident } : {}),
  };
}
