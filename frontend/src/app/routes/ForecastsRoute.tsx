import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { ForecastsPage } from "@/features/fleet/forecasts/ForecastsPage";
import type { ForecastFilters } from "@/features/fleet/forecasts/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function ForecastsRoute() {
  useTitle("Forecasts");
  const filters = getRouteApi("/forecasts").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: ForecastFilters) => void navigate({ to: "/forecasts", search: next, replace: true }),
    [navigate],
  );
  return <ForecastsPage filters={filters} onFilters={onFilters} />;
}
