import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { RemedySearch } from "@/features/remedies/search";
import { useTitle } from "@/lib/ui/useTitle";
import { RemediesPage } from "../pages/RemediesPage";

export function RemediesRoute() {
  useTitle("Remedies");
  const search = getRouteApi("/remedies").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: RemedySearch) => void navigate({ to: "/remedies", search: next, replace: true }),
    [navigate],
  );
  return <RemediesPage search={search} onSearch={onSearch} />;
}
