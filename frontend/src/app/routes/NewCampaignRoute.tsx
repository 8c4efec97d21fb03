import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { NewCampaignPage } from "@/features/lab/NewCampaignPage";
import { useTitle } from "@/lib/ui/useTitle";

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
