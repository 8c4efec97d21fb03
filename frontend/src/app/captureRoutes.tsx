import { Skeleton } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { CapturesPage } from "@/features/captures/CapturesPage";
import type { CaptureSearch } from "@/features/captures/search";
import { useTitle } from "@/lib/ui/useTitle";

/** It alone of these pages needs the charts, which are a third of all code. */
const CapturePage = lazy(() =>
  import("@/features/captures/CapturePage").then((module) => ({ default: module.CapturePage })),
);

export function CapturesRoute() {
  useTitle("Captures");
  return <CapturesPage search={getRouteApi("/captures").useSearch()} />;
}

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
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <CapturePage key={id} id={id} search={search} onSearch={onSearch} onDeleted={onDeleted} />
    </Suspense>
  );
}
