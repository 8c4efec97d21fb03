import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { IncidentFilters } from "@/features/incidents/filters/filters";
import { IncidentsPage } from "@/features/incidents/list/IncidentsPage";
import { useTitle } from "@/lib/ui/useTitle";

export function IncidentsRoute() {
  useTitle("Incidents");
  const filters = getRouteApi("/incidents").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: IncidentFilters) => void navigate({ to: "/incidents", search: next, replace: true }),
    [navigate],
  );
  const onOpen = useCallback((id: string) => void navigate({ to: "/incidents/$id", params: { id } }), [navigate]);
  return <IncidentsPage filters={filters} onFilters={onFilters} onOpen={onOpen} />;
}
