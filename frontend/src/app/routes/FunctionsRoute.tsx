import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { FunctionsPage } from "@/features/functions/card/FunctionsPage";
import type { FunctionsSearch } from "@/features/functions/scenario";
import { useTitle } from "@/lib/ui/useTitle";

export function FunctionsRoute() {
  useTitle("Functions");
  const search = getRouteApi("/functions").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: FunctionsSearch) => void navigate({ to: "/functions", search: next, replace: true }),
    [navigate],
  );
  return <FunctionsPage search={search} onSearch={onSearch} />;
}
