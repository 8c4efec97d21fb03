import { EmptyState } from "@/lib/ui/EmptyState";
import { type IncidentFilters, isFiltered } from "../filters/filters";

const OPENS = "An incident opens when a symptom is detected on an RNIC or a host.";

/** An empty list: because of the filters, because all are resolved, or because there never was one. */
export function NoIncidents({ filters }: { filters: IncidentFilters }) {
  const state = filters.state ?? "unresolved";
  if (isFiltered(filters) || !["unresolved", "all"].includes(state)) {
    return (
      <EmptyState title="No incident matches these filters">Clear the filters, or choose another state.</EmptyState>
    );
  }
  return state === "all" ? (
    <EmptyState title="No incidents yet">{OPENS}</EmptyState>
  ) : (
    <EmptyState title="No open incidents">{OPENS} Choose All to include resolved incidents.</EmptyState>
  );
}
