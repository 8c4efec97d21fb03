import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { PolicyPage } from "@/features/policies/PolicyPage";
import type { PolicySearch } from "@/features/policies/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function PolicyRoute() {
  const route = getRouteApi("/policies/$id");
  const { id } = route.useParams();
  useTitle(id);
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: PolicySearch) => void navigate({ to: "/policies/$id", params: { id }, search: next, replace: true }),
    [navigate, id],
  );
  return <PolicyPage key={id} id={id} search={route.useSearch()} onSearch={onSearch} />;
}
