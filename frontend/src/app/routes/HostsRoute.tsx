import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { HostsPage } from "@/features/hosts/HostsPage";
import type { AgentFilters } from "@/features/hosts/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function HostsRoute() {
  useTitle("Hosts");
  const filters = getRouteApi("/hosts").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: AgentFilters) => void navigate({ to: "/hosts", search: next, replace: true }),
    [navigate],
  );
  return <HostsPage filters={filters} onFilters={onFilters} />;
}
