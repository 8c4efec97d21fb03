import "@/lib/ui/mantineMore.css";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { VfPage } from "@/features/isolation/vf/VfPage";
import type { RangeSearch } from "@/lib/time/range";
import { useTitle } from "@/lib/ui/useTitle";
import { NotFoundPage } from "../FaultPages";

export function VfRoute() {
  const route = getRouteApi("/tenants/rnics/$host/$pci/vfs/$vf");
  const { host, pci, vf } = route.useParams();
  useTitle(`VF ${vf} of ${host} ${pci}`);
  const range = route.useSearch();
  const navigate = useNavigate();
  const onRange = useCallback(
    (next: RangeSearch) =>
      void navigate({
        to: "/tenants/rnics/$host/$pci/vfs/$vf",
        params: { host, pci, vf },
        search: next,
        replace: true,
      }),
    [navigate, host, pci, vf],
  );
  if (!/^\d{1,4}$/.test(vf)) return <NotFoundPage />;
  return <VfPage key={`${host}|${pci}|${vf}`} host={host} pci={pci} vf={Number(vf)} range={range} onRange={onRange} />;
}
