import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { WebhooksPage } from "@/features/notify/WebhooksPage";
import type { LogFilters } from "@/features/notify/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function WebhooksRoute() {
  useTitle("Webhooks");
  const filters = getRouteApi("/webhooks").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: LogFilters) => void navigate({ to: "/webhooks", search: next, replace: true }),
    [navigate],
  );
  return <WebhooksPage filters={filters} onFilters={onFilters} />;
}
