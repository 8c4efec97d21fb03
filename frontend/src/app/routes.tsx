import { Skeleton } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo } from "react";
import { AgentsPage } from "@/features/agents/AgentsPage";
import type { AgentFilters } from "@/features/agents/filters";
import type { ForecastFilters } from "@/features/forecasts/filters";
import { ForecastsPage } from "@/features/forecasts/ForecastsPage";
import { IncidentPage } from "@/features/incidents/IncidentPage";
import { IncidentsPage } from "@/features/incidents/IncidentsPage";
import type { IncidentFilters } from "@/features/incidents/filters";
import type { EditorSearch, PolicyFilters, PolicySearch } from "@/features/policies/filters";
import { PlanPage } from "@/features/plans/PlanPage";
import { PoliciesPage } from "@/features/policies/PoliciesPage";
import { PolicyEditorPage } from "@/features/policies/PolicyEditorPage";
import { PolicyPage } from "@/features/policies/PolicyPage";
import type { ProfileSearch } from "@/features/profiles/filters";
import { ProfilesPage } from "@/features/profiles/ProfilesPage";
import { RemediesPage } from "@/features/remedies/RemediesPage";
import type { RemedySearch } from "@/features/remedies/search";
import { parseRange, type RangeSearch } from "@/features/rnic/range";
import { parseVfView, type RnicSearch, type VfView } from "@/features/rnic/vfView";
import { NewRolloutPage } from "@/features/rollouts/NewRolloutPage";
import { RolloutPage } from "@/features/rollouts/RolloutPage";
import type { RolloutSearch } from "@/features/rollouts/search";
import { SettingsPage } from "@/features/settings/SettingsPage";
import type { SilenceFilters } from "@/features/silences/filters";
import { SilencesPage } from "@/features/silences/SilencesPage";
import { SymptomPage } from "@/features/symptoms/SymptomPage";
import { WallPage } from "@/features/wall/WallPage";
import type { WallFilters } from "@/features/wall/filters";
import type { LogFilters } from "@/features/webhooks/filters";
import { WebhooksPage } from "@/features/webhooks/WebhooksPage";

/** These alone need the charts, which are a third of all code: the wall must not wait for them. */
const RnicPage = lazy(() => import("@/features/rnic/RnicPage").then((module) => ({ default: module.RnicPage })));
const ProfilePage = lazy(() => import("@/features/profiles/ProfilePage").then((module) => ({ default: module.ProfilePage })));

/** Between the router and the pages: pages take what they show as props and know nothing of routes' own state. */
export function WallRoute() {
  const filters = getRouteApi("/").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: WallFilters) => void navigate({ to: "/", search: next, replace: true }), [navigate]);
  const onOpen = useCallback((host: string, pci: string) => void navigate({ to: "/rnics/$host/$pci", params: { host, pci } }), [navigate]);
  return <WallPage filters={filters} onFilters={onFilters} onOpen={onOpen} />;
}

export function RnicRoute() {
  const route = getRouteApi("/rnics/$host/$pci");
  const { host, pci } = route.useParams();
  const search = route.useSearch();
  const range = useMemo(() => parseRange({ range: search.range, from: search.from, to: search.to }), [search.range, search.from, search.to]);
  const vfs = useMemo(() => parseVfView({ vfText: search.vfText, vfUse: search.vfUse, vfSort: search.vfSort }), [search.vfText, search.vfUse, search.vfSort]);
  const navigate = useNavigate();
  const show = useCallback((next: RnicSearch) => void navigate({ to: "/rnics/$host/$pci", params: { host, pci }, search: next, replace: true }), [navigate, host, pci]);
  const onRange = useCallback((next: RangeSearch) => show({ ...vfs, ...next }), [show, vfs]);
  const onVfs = useCallback((next: VfView) => show({ ...range, ...next }), [show, range]);
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <RnicPage key={`${host}|${pci}`} host={host} pci={pci} range={range} onRange={onRange} vfs={vfs} onVfs={onVfs} />
    </Suspense>
  );
}

export function IncidentsRoute() {
  const filters = getRouteApi("/incidents").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: IncidentFilters) => void navigate({ to: "/incidents", search: next, replace: true }), [navigate]);
  const onOpen = useCallback((id: string) => void navigate({ to: "/incidents/$id", params: { id } }), [navigate]);
  return <IncidentsPage filters={filters} onFilters={onFilters} onOpen={onOpen} />;
}

export function IncidentRoute() {
  const { id } = getRouteApi("/incidents/$id").useParams();
  return <IncidentPage key={id} id={id} />;
}

export function SilencesRoute() {
  const filters = getRouteApi("/silences").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: SilenceFilters) => void navigate({ to: "/silences", search: next, replace: true }), [navigate]);
  return <SilencesPage filters={filters} onFilters={onFilters} />;
}

export function PoliciesRoute() {
  const filters = getRouteApi("/policies").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: PolicyFilters) => void navigate({ to: "/policies", search: next, replace: true }), [navigate]);
  return <PoliciesPage filters={filters} onFilters={onFilters} />;
}

export function PolicyRoute() {
  const route = getRouteApi("/policies/$id");
  const { id } = route.useParams();
  const navigate = useNavigate();
  const onSearch = useCallback((next: PolicySearch) => void navigate({ to: "/policies/$id", params: { id }, search: next, replace: true }), [navigate, id]);
  return <PolicyPage key={id} id={id} search={route.useSearch()} onSearch={onSearch} />;
}

export function NewPolicyRoute() {
  const { copy }: EditorSearch = getRouteApi("/policies/new").useSearch();
  return <PolicyEditorPage key={copy} id={null} copy={copy ?? null} />;
}

export function EditPolicyRoute() {
  const { id } = getRouteApi("/policies/$id/edit").useParams();
  return <PolicyEditorPage key={id} id={id} copy={null} />;
}

export function ProfilesRoute() {
  return <ProfilesPage />;
}

export function ProfileRoute() {
  const route = getRouteApi("/profiles/$model");
  const { model } = route.useParams();
  const navigate = useNavigate();
  const onSearch = useCallback((next: ProfileSearch) => void navigate({ to: "/profiles/$model", params: { model }, search: next, replace: true }), [navigate, model]);
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <ProfilePage key={model} model={model} search={route.useSearch()} onSearch={onSearch} />
    </Suspense>
  );
}

export function ForecastsRoute() {
  const filters = getRouteApi("/forecasts").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: ForecastFilters) => void navigate({ to: "/forecasts", search: next, replace: true }), [navigate]);
  return <ForecastsPage filters={filters} onFilters={onFilters} />;
}

export function SymptomRoute() {
  const { symptom } = getRouteApi("/symptoms/$symptom").useParams();
  return <SymptomPage key={symptom} symptom={symptom} />;
}

export function RemediesRoute() {
  const search = getRouteApi("/remedies").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback((next: RemedySearch) => void navigate({ to: "/remedies", search: next, replace: true }), [navigate]);
  return <RemediesPage search={search} onSearch={onSearch} />;
}

export function NewRolloutRoute() {
  const search = getRouteApi("/rollouts/new").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback((next: RolloutSearch) => void navigate({ to: "/rollouts/new", search: next, replace: true }), [navigate]);
  const onStarted = useCallback((id: string) => void navigate({ to: "/rollouts/$id", params: { id } }), [navigate]);
  return <NewRolloutPage key={search.incident ?? "none"} search={search} onSearch={onSearch} onStarted={onStarted} />;
}

export function PlanRoute() {
  const { id } = getRouteApi("/plans/$id").useParams();
  return <PlanPage key={id} id={id} />;
}

export function RolloutRoute() {
  const { id } = getRouteApi("/rollouts/$id").useParams();
  return <RolloutPage key={id} id={id} />;
}

export function AgentsRoute() {
  const filters = getRouteApi("/agents").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: AgentFilters) => void navigate({ to: "/agents", search: next, replace: true }), [navigate]);
  return <AgentsPage filters={filters} onFilters={onFilters} />;
}

export function WebhooksRoute() {
  const filters = getRouteApi("/webhooks").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback((next: LogFilters) => void navigate({ to: "/webhooks", search: next, replace: true }), [navigate]);
  return <WebhooksPage filters={filters} onFilters={onFilters} />;
}

export function SettingsRoute() {
  const { section } = getRouteApi("/settings/$section").useParams();
  return <SettingsPage section={section} />;
}
