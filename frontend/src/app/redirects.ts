import { createRoute, redirect } from "@tanstack/react-router";
import { parseAgentFilters } from "@/features/hosts/filters";
import { root } from "./rootRoute";

/** The page Hosts was called Agents. */
export const agentsRoute = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: parseAgentFilters,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/hosts", search, replace: true });
  },
});

export const settingsIndexRoute = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  beforeLoad: () => {
    throw redirect({ to: "/settings/$section", params: { section: "tokens" }, replace: true });
  },
});
