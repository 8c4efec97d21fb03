import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { PoliciesPage } from "@/features/policies/PoliciesPage";
import type { PolicyFilters } from "@/features/policies/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function PoliciesRoute() {
  useTitle("Policies");
  const filters = getRouteApi("/policies").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: PolicyFilters) => void navigate({ to: "/policies", search: next, replace: true }),
    [navigate],
  );
  return <PoliciesPage filters={filters} onFilters={onFilters} />;
}
