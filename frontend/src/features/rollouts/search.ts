import { parseFilters, type WallFilters } from "@/features/wall/filters";

/** A rollout that is being prepared, as it stands in the URL: the wall's filters say where, and for what it is. */
export interface RolloutSearch extends WallFilters {
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
