import { Skeleton } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import type { TenantFilters } from "@/features/isolation/fleet/filters";
import { TenantsPage } from "@/features/isolation/fleet/TenantsPage";
import { ReportPage } from "@/features/isolation/report/ReportPage";
import type { ReportSearch } from "@/features/isolation/report/search";
import { RnicVfsPage } from "@/features/isolation/rnic/RnicVfsPage";
import type { VfsView } from "@/features/isolation/rnic/view";
import { SloPage } from "@/features/isolation/slo/SloPage";
import type { RangeSearch } from "@/lib/time/range";
import { useTitle } from "@/lib/ui/useTitle";
import { NotFoundPage } from "./FaultPages";

/** It alone of these pages needs the charts, which are a third of all code. */
const VfPage = lazy(() => import("@/features/isolation/vf/VfPage").then((module) => ({ default: module.VfPage })));

export function TenantsRoute() {
  useTitle("Tenants");
  const filters = getRouteApi("/tenants").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: TenantFilters) => void navigate({ to: "/tenants", search: next, replace: true }),
    [navigate],
  );
  return <TenantsPage filters={filters} onFilters={onFilters} />;
}

export function SlosRoute() {
  useTitle("SLOs");
  return <SloPage />;
}

export function ReportRoute() {
  useTitle("SLO report");
  const search = getRouteApi("/tenants/report").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: ReportSearch) => void navigate({ to: "/tenants/report", search: next, replace: true }),
    [navigate],
  );
  return <ReportPage search={search} onSearch={onSearch} />;
}

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
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <VfPage key={`${host}|${pci}|${vf}`} host={host} pci={pci} vf={Number(vf)} range={range} onRange={onRange} />
    </Suspense>
  );
}
