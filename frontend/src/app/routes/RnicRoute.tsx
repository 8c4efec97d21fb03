import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { RnicSearch } from "@/features/fleet/rnic/tabs";
import { useTitle } from "@/lib/ui/useTitle";
import { RnicPage } from "../pages/RnicPage";

export function RnicRoute() {
  const route = getRouteApi("/rnics/$host/$pci");
  const { host, pci } = route.useParams();
  useTitle(`${host} ${pci}`);
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: RnicSearch, replace: boolean) =>
      void navigate({ to: "/rnics/$host/$pci", params: { host, pci }, search: next, replace }),
    [navigate, host, pci],
  );
  return <RnicPage key={`${host}|${pci}`} host={host} pci={pci} search={route.useSearch()} onSearch={onSearch} />;
}
