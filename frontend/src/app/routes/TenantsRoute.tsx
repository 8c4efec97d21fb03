import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { TenantsPage } from "@/features/isolation/fleet/TenantsPage";
import type { TenantFilters } from "@/features/isolation/fleet/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function TenantsRoute() {
  useTitle("Tenants");
  const filters = getRouteApi("/tenants").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: TenantFilters) => void navigate({ to: "/tenants", search: next, replace: true }),
    [navigate],
  );
  return <TenantsPage filters={filters} onFilters={onFilters} />;
}
