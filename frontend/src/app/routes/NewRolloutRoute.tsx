import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { NewRolloutPage } from "@/features/rollouts/NewRolloutPage";
import type { RolloutSearch } from "@/features/rollouts/search";
import { useTitle } from "@/lib/ui/useTitle";

export function NewRolloutRoute() {
  useTitle("Roll out a remedy");
  const search = getRouteApi("/rollouts/new").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: RolloutSearch) => void navigate({ to: "/rollouts/new", search: next, replace: true }),
    [navigate],
  );
  const onStarted = useCallback((id: string) => void navigate({ to: "/rollouts/$id", params: { id } }), [navigate]);
  return <NewRolloutPage key={search.incident ?? "none"} search={search} onSearch={onSearch} onStarted={onStarted} />;
}
