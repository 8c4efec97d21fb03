import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { FleetPage } from "@/features/fleet/overview/FleetPage";
import { type FleetView, parseView } from "@/features/fleet/overview/view";
import { useTitle } from "@/lib/ui/useTitle";
import { type FleetFilters, parseFilters } from "@/shared/fleet/filters";

export function FleetRoute() {
  useTitle("Fleet");
  const search = getRouteApi("/").useSearch();
  const view = useMemo(() => parseView({ ...search }), [search]);
  const filters = useMemo(() => parseFilters({ ...search }), [search]);
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: FleetFilters) => void navigate({ to: "/", search: { ...view, ...next }, replace: true }),
    [navigate, view],
  );
  const onView = useCallback(
    (next: FleetView) => void navigate({ to: "/", search: { ...filters, ...next }, replace: true }),
    [navigate, filters],
  );
  const onOpen = useCallback(
    (host: string, pci: string) => void navigate({ to: "/rnics/$host/$pci", params: { host, pci } }),
    [navigate],
  );
  return <FleetPage filters={filters} onFilters={onFilters} view={view} onView={onView} onOpen={onOpen} />;
}
