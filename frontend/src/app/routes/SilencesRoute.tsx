import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { SilencesPage } from "@/features/incidents/silences/SilencesPage";
import type { SilenceFilters } from "@/features/incidents/silences/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function SilencesRoute() {
  useTitle("Silences");
  const filters = getRouteApi("/silences").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: SilenceFilters) => void navigate({ to: "/silences", search: next, replace: true }),
    [navigate],
  );
  return <SilencesPage filters={filters} onFilters={onFilters} />;
}
