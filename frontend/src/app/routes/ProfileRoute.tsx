import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { ProfilePage } from "@/features/fleet/profiles/ProfilePage";
import type { ProfileSearch } from "@/features/fleet/profiles/filters";
import { useTitle } from "@/lib/ui/useTitle";

export function ProfileRoute() {
  const route = getRouteApi("/profiles/$model");
  const { model } = route.useParams();
  useTitle(`Profile ${model}`);
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: ProfileSearch) => void navigate({ to: "/profiles/$model", params: { model }, search: next, replace: true }),
    [navigate, model],
  );
  return <ProfilePage key={model} model={model} search={route.useSearch()} onSearch={onSearch} />;
}
