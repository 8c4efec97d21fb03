import { Skeleton } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo } from "react";
import { AccountPage } from "@/features/accounts/own/AccountPage";
import { SettingsPage } from "@/features/accounts/SettingsPage";
import type { ForecastFilters } from "@/features/fleet/forecasts/filters";
import { ForecastsPage } from "@/features/fleet/forecasts/ForecastsPage";
import { useTitle } from "@/lib/ui/useTitle";
import { FleetPage } from "@/features/fleet/overview/FleetPage";
import { type FleetView, parseView } from "@/features/fleet/overview/view";
import type { ProfileSearch } from "@/features/fleet/profiles/filters";
import { ProfilesPage } from "@/features/fleet/profiles/ProfilesPage";
import { SymptomPage } from "@/features/fleet/symptoms/SymptomPage";
import type { RnicSearch } from "@/features/fleet/rnic/tabs";
import type { AgentFilters } from "@/features/hosts/filters";
import { HostsPage } from "@/features/hosts/HostsPage";
import type { IncidentFilters } from "@/features/incidents/filters/filters";
import { IncidentsPage } from "@/features/incidents/list/IncidentsPage";
import type { SilenceFilters } from "@/features/incidents/silences/filters";
import { SilencesPage } from "@/features/incidents/silences/SilencesPage";
import type { LogFilters } from "@/features/notify/filters";
import { WebhooksPage } from "@/features/notify/WebhooksPage";
import { PlanPage } from "@/features/plans/PlanPage";
import { PolicyEditorPage } from "@/features/policies/editor/PolicyEditorPage";
import type { EditorSearch, PolicyFilters, PolicySearch } from "@/features/policies/filters";
import { PoliciesPage } from "@/features/policies/PoliciesPage";
import { PolicyPage } from "@/features/policies/PolicyPage";
import type { RemedySearch } from "@/features/remedies/search";
import { NewRolloutPage } from "@/features/rollouts/NewRolloutPage";
import { RolloutPage } from "@/features/rollouts/RolloutPage";
import { RolloutsPage } from "@/features/rollouts/RolloutsPage";
import type { RolloutSearch } from "@/features/rollouts/search";
import { type FleetFilters, parseFilters } from "@/shared/fleet/filters";
import { IncidentPage } from "./pages/IncidentPage";
import { PolicyOfCausePage } from "./pages/PolicyOfCausePage";
import { RemediesPage } from "./pages/RemediesPage";

/** These alone need the charts, which are a third of all code: the fleet page must not wait for them. */
const RnicPage = lazy(() => import("./pages/RnicPage").then((module) => ({ default: module.RnicPage })));
const ProfilePage = lazy(() =>
  import("@/features/fleet/profiles/ProfilePage").then((module) => ({ default: module.ProfilePage })),
);

/** Between the router and the pages: pages take what they show as props and know nothing of routes' own state. */
export function FleetRoute() {
  useTitle("Fleet");
  const search = getRouteApi("/").useSearch();
  const view = useMemo(() => parseView({ ...search }), [search]);
  const filters = useMemo(() => parseFilters({ ...search }), [search]);
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: FleetFilters) => void navigate({ to: "/", search: { ...view, ...next }, replace: true }),
    [navigate, view],
  );
  const onView = useCallback(
    (next: FleetView) => void navigate({ to: "/", search: { ...filters, ...next }, replace: true }),
    [navigate, filters],
  );
  const onOpen = useCallback(
    (host: string, pci: string) => void navigate({ to: "/rnics/$host/$pci", params: { host, pci } }),
    [navigate],
  );
  return <FleetPage filters={filters} onFilters={onFilters} view={view} onView={onView} onOpen={onOpen} />;
}

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
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <RnicPage key={`${host}|${pci}`} host={host} pci={pci} search={route.useSearch()} onSearch={onSearch} />
    </Suspense>
  );
}

export function IncidentsRoute() {
  useTitle("Incidents");
  const filters = getRouteApi("/incidents").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: IncidentFilters) => void navigate({ to: "/incidents", search: next, replace: true }),
    [navigate],
  );
  const onOpen = useCallback((id: string) => void navigate({ to: "/incidents/$id", params: { id } }), [navigate]);
  return <IncidentsPage filters={filters} onFilters={onFilters} onOpen={onOpen} />;
}

export function IncidentRoute() {
  const { id } = getRouteApi("/incidents/$id").useParams();
  return <IncidentPage key={id} id={id} />;
}

export function SilencesRoute() {
  useTitle("Silences");
  const filters = getRouteApi("/silences").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: SilenceFilters) => void navigate({ to: "/silences", search: next, replace: true }),
    [navigate],
  );
  return <SilencesPage filters={filters} onFilters={onFilters} />;
}

export function PoliciesRoute() {
  useTitle("Policies");
  const filters = getRouteApi("/policies").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: PolicyFilters) => void navigate({ to: "/policies", search: next, replace: true }),
    [navigate],
  );
  return <PoliciesPage filters={filters} onFilters={onFilters} />;
}

export function PolicyRoute() {
  const route = getRouteApi("/policies/$id");
  const { id } = route.useParams();
  useTitle(id);
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: PolicySearch) => void navigate({ to: "/policies/$id", params: { id }, search: next, replace: true }),
    [navigate, id],
  );
  return <PolicyPage key={id} id={id} search={route.useSearch()} onSearch={onSearch} />;
}

export function NewPolicyRoute() {
  const { copy, campaign, cause }: EditorSearch = getRouteApi("/policies/new").useSearch();
  useTitle("New policy");
  if (campaign !== undefined && cause !== undefined)
    return <PolicyOfCausePage key={`${campaign} ${cause}`} campaign={campaign} cause={cause} />;
  return <PolicyEditorPage key={copy} id={null} copy={copy ?? null} />;
}

export function EditPolicyRoute() {
  const { id } = getRouteApi("/policies/$id/edit").useParams();
  useTitle(`Edit ${id}`);
  return <PolicyEditorPage key={id} id={id} copy={null} />;
}

export function ProfilesRoute() {
  useTitle("Profiles");
  return <ProfilesPage />;
}

export function ProfileRoute() {
  const route = getRouteApi("/profiles/$model");
  const { model } = route.useParams();
  useTitle(`Profile ${model}`);
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: ProfileSearch) => void navigate({ to: "/profiles/$model", params: { model }, search: next, replace: true }),
    [navigate, model],
  );
  return (
    <Suspense fallback={<Skeleton height={400} role="status" aria-label="Loading" />}>
      <ProfilePage key={model} model={model} search={route.useSearch()} onSearch={onSearch} />
    </Suspense>
  );
}

export function ForecastsRoute() {
  useTitle("Forecasts");
  const filters = getRouteApi("/forecasts").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: ForecastFilters) => void navigate({ to: "/forecasts", search: next, replace: true }),
    [navigate],
  );
  return <ForecastsPage filters={filters} onFilters={onFilters} />;
}

export function SymptomRoute() {
  const { symptom } = getRouteApi("/symptoms/$symptom").useParams();
  useTitle(symptom);
  return <SymptomPage key={symptom} symptom={symptom} />;
}

export function RemediesRoute() {
  useTitle("Remedies");
  const search = getRouteApi("/remedies").useSearch();
  const navigate = useNavigate();
  const onSearch = useCallback(
    (next: RemedySearch) => void navigate({ to: "/remedies", search: next, replace: true }),
    [navigate],
  );
  return <RemediesPage search={search} onSearch={onSearch} />;
}

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

export function RolloutsRoute() {
  useTitle("Rollouts");
  return <RolloutsPage />;
}

export function PlanRoute() {
  const { id } = getRouteApi("/plans/$id").useParams();
  useTitle("Mask plan");
  return <PlanPage key={id} id={id} />;
}

export function RolloutRoute() {
  const { id } = getRouteApi("/rollouts/$id").useParams();
  useTitle("Rollout");
  return <RolloutPage key={id} id={id} />;
}

export function HostsRoute() {
  useTitle("Hosts");
  const filters = getRouteApi("/hosts").useSearch();
  const navigate = useNavigate();
  const onFilters = useCallback(
    (next: AgentFilters) => void navigate({ to: "/hosts", search: next, replace: true }),
    [navigate],
  );
  return <HostsPage filters={filters} onFilters={onFilters} />;
}

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

export function SettingsRoute() {
  const { section } = getRouteApi("/settings/$section").useParams();
  useTitle("Settings");
  return <SettingsPage section={section} />;
}

export function AccountRoute() {
  useTitle("Account");
  return <AccountPage />;
}
