import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { CapturePage } from "@/features/captures/CapturePage";
import type { CaptureSearch } from "@/features/captures/search";
import { useTitle } from "@/lib/ui/useTitle";

export function CaptureRoute() {
  const { id } = getRouteApi("/captures/$id").useParams();
  const search = getRouteApi("/captures/$id").useSearch();
  const navigate = useNavigate();
  useTitle("Capture");
  const onSearch = useCallback(
    (change: CaptureSearch) =>
      void navigate({ to: "/captures/$id", params: { id }, search: (was) => ({ ...was, ...change }), replace: true }),
    [navigate, id],
  );
  const onDeleted = useCallback(() => void navigate({ to: "/captures" }), [navigate]);
  return <CapturePage key={id} id={id} search={search} onSearch={onSearch} onDeleted={onDeleted} />;
}
