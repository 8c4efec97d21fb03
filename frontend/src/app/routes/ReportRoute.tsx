import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { ReportPage } from "@/features/isolation/report/ReportPage";
import type { ReportSearch } from "@/features/isolation/report/search";
import { useTitle } from "@/lib/ui/useTitle";

export function ReportRoute() {
  useTitle("SLO report");
  const search = getRouteApi("/tenants/report").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: ReportSearch) => void navigate({ to: "/tenants/report", search: next, replace: true }),
    [navigate],
  );
  return <ReportPage search={search} onSearch={onSearch} />;
}
