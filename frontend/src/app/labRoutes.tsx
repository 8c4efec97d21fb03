import { Skeleton } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { LabPage } from "@/features/lab/LabPage";
import { NewCampaignPage } from "@/features/lab/NewCampaignPage";
import { useTitle } from "@/lib/ui/useTitle";

/** It alone of these pages needs the charts, which are a third of all code. */
const CampaignPage = lazy(() =>
  import("@/features/lab/CampaignPage").then((module) => ({ default: module.CampaignPage })),
);

export function LabRoute() {
  useTitle("Lab");
  return <LabPage filters={getRouteApi("/lab").useSearch()} />;
}

export function NewCampaignRoute() {
  useTitle("Start a campaign");
  const search = getRouteApi("/lab/new").useSearch();
  const navigate = useNavigate();
  const onStarted = useCallback((id: string) => void navigate({ to: "/lab/$id", params: { id } }), [navigate]);
  return (
    <NewCampaignPage
      key={`${search.device ?? ""}|${search.cause ?? ""}|${search.incident ?? ""}`}
      search={search}
      onStarted={onStarted}
    />
  );
}

export function CampaignRoute() {
  const { id } = getRouteApi("/lab/$id").useParams();
  useTitle("Lab campaign");
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <CampaignPage key={id} id={id} />
    </Suspense>
  );
}
