/** The agents' filters as they stand in the URL. */
export interface AgentFilters {
  host?: string;
  connection?: "connected" | "lost";
}

export function parseAgentFilters(search: Record<string, unknown>): AgentFilters {
  const filters: AgentFilters = {};
  const { host, connection } = search;
  if (typeof host === "string" && host.trim()) filters.host = host.trim();
  if (connection === "connected" || connection === "lost") filters.connection = connection;
  return filters;
}
