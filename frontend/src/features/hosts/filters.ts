/** The agents' filters as they stand in the URL. */
export interface AgentFilters {
  host?: string;
  connection?: "connected" | "lost";
  /** Those first whose certificates end first; without it by host. */
  sort?: "certificate";
  /** The dialog that enrols an agent is open. */
  enrol?: "1";
}

export function parseAgentFilters(search: Record<string, unknown>): AgentFilters {
  const filters: AgentFilters = {};
  const { host, connection, sort, enrol } = search;
  if (typeof host === "string" && host.trim()) filters.host = host.trim();
  if (connection === "connected" || connection === "lost") filters.connection = connection;
  if (sort === "certificate") filters.sort = sort;
  if (enrol === "1" || enrol === 1) filters.enrol = "1";
  return filters;
}
