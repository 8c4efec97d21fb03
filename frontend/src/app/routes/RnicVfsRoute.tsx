import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { RnicVfsPage } from "@/features/isolation/rnic/RnicVfsPage";
import type { VfsView } from "@/features/isolation/rnic/view";
import { useTitle } from "@/lib/ui/useTitle";

export function RnicVfsRoute() {
  const route = getRouteApi("/tenants/rnics/$host/$pci");
  const { host, pci } = route.useParams();
  useTitle(`VFs of ${host} ${pci}`);
  const navigate = useNavigate();
  const onView = useCallback(
    (next: VfsView) =>
      void navigate({ to: "/tenants/rnics/$host/$pci", params: { host, pci }, search: next, replace: true }),
    [navigate, host, pci],
  );
  return <RnicVfsPage key={`${host}|${pci}`} host={host} pci={pci} view={route.useSearch()} onView={onView} />;
}
