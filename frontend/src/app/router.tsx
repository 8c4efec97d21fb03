import { createRoute, createRouter, lazyRouteComponent as page } from "@tanstack/react-router";
import { parseForecastFilters } from "@/features/fleet/forecasts/filters";
import { parseProfileSearch } from "@/features/fleet/profiles/filters";
import { parseRnicSearch } from "@/features/fleet/rnic/tabs";
import { parseFunctionsSearch } from "@/features/functions/scenario";
import { parseAgentFilters } from "@/features/hosts/filters";
import { parseIncidentFilters } from "@/features/incidents/filters/filters";
import { parseSilenceFilters } from "@/features/incidents/silences/filters";
import { parseTenantFilters } from "@/features/isolation/fleet/filters";
import { parseReportSearch } from "@/features/isolation/report/search";
import { parseVfsView } from "@/features/isolation/rnic/view";
import { parseCaptureSearch, parseCapturesSearch } from "@/features/captures/search";
import { parseLabFilters, parseNewCampaignSearch } from "@/features/lab/search";
import { parseLogFilters } from "@/features/notify/filters";
import { parseEditorSearch, parsePolicyFilters, parsePolicySearch } from "@/features/policies/filters";
import { parseRemedySearch } from "@/features/remedies/search";
import { parseRolloutSearch } from "@/features/rollouts/search";
import { parseRange } from "@/lib/time/range";
import { parseFleetSearch } from "@/features/fleet/overview/view";
import { ErrorPage } from "./FaultPages";
import { LoadingPage } from "./LoadingPage";
import { agentsRoute, settingsIndexRoute } from "./redirects";
import { root } from "./rootRoute";
import { stringifySearch } from "./stringifySearch";

export const fleetRoute = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: parseFleetSearch,
  component: page(() => import("./routes/FleetRoute"), "FleetRoute"),
});
export const rnicRoute = createRoute({
  getParentRoute: () => root,
  path: "/rnics/$host/$pci",
  validateSearch: parseRnicSearch,
  component: page(() => import("./routes/RnicRoute"), "RnicRoute"),
});
export const incidentsRoute = createRoute({
  getParentRoute: () => root,
  path: "/incidents",
  validateSearch: parseIncidentFilters,
  component: page(() => import("./routes/IncidentsRoute"), "IncidentsRoute"),
});
export const incidentRoute = createRoute({
  getParentRoute: () => root,
  path: "/incidents/$id",
  component: page(() => import("./routes/IncidentRoute"), "IncidentRoute"),
});
export const silencesRoute = createRoute({
  getParentRoute: () => root,
  path: "/silences",
  validateSearch: parseSilenceFilters,
  component: page(() => import("./routes/SilencesRoute"), "SilencesRoute"),
});
export const policiesRoute = createRoute({
  getParentRoute: () => root,
  path: "/policies",
  validateSearch: parsePolicyFilters,
  component: page(() => import("./routes/PoliciesRoute"), "PoliciesRoute"),
});
export const newPolicyRoute = createRoute({
  getParentRoute: () => root,
  path: "/policies/new",
  validateSearch: parseEditorSearch,
  component: page(() => import("./routes/NewPolicyRoute"), "NewPolicyRoute"),
});
export const policyRoute = createRoute({
  getParentRoute: () => root,
  path: "/policies/$id",
  validateSearch: parsePolicySearch,
  component: page(() => import("./routes/PolicyRoute"), "PolicyRoute"),
});
export const editPolicyRoute = createRoute({
  getParentRoute: () => root,
  path: "/policies/$id/edit",
  component: page(() => import("./routes/EditPolicyRoute"), "EditPolicyRoute"),
});
export const forecastsRoute = createRoute({
  getParentRoute: () => root,
  path: "/forecasts",
  validateSearch: parseForecastFilters,
  component: page(() => import("./routes/ForecastsRoute"), "ForecastsRoute"),
});
export const profilesRoute = createRoute({
  getParentRoute: () => root,
  path: "/profiles",
  component: page(() => import("./routes/ProfilesRoute"), "ProfilesRoute"),
});
export const profileRoute = createRoute({
  getParentRoute: () => root,
  path: "/profiles/$model",
  validateSearch: parseProfileSearch,
  component: page(() => import("./routes/ProfileRoute"), "ProfileRoute"),
});
export const symptomRoute = createRoute({
  getParentRoute: () => root,
  path: "/symptoms/$symptom",
  component: page(() => import("./routes/SymptomRoute"), "SymptomRoute"),
});
export const tenantsRoute = createRoute({
  getParentRoute: () => root,
  path: "/tenants",
  validateSearch: parseTenantFilters,
  component: page(() => import("./routes/TenantsRoute"), "TenantsRoute"),
});
export const slosRoute = createRoute({
  getParentRoute: () => root,
  path: "/tenants/slos",
  component: page(() => import("./routes/SlosRoute"), "SlosRoute"),
});
export const reportRoute = createRoute({
  getParentRoute: () => root,
  path: "/tenants/report",
  validateSearch: parseReportSearch,
  component: page(() => import("./routes/ReportRoute"), "ReportRoute"),
});
export const rnicVfsRoute = createRoute({
  getParentRoute: () => root,
  path: "/tenants/rnics/$host/$pci",
  validateSearch: parseVfsView,
  component: page(() => import("./routes/RnicVfsRoute"), "RnicVfsRoute"),
});
export const vfRoute = createRoute({
  getParentRoute: () => root,
  path: "/tenants/rnics/$host/$pci/vfs/$vf",
  validateSearch: parseRange,
  component: page(() => import("./routes/VfRoute"), "VfRoute"),
});
export const functionsRoute = createRoute({
  getParentRoute: () => root,
  path: "/functions",
  validateSearch: parseFunctionsSearch,
  component: page(() => import("./routes/FunctionsRoute"), "FunctionsRoute"),
});
export const placementRoute = createRoute({
  getParentRoute: () => root,
  path: "/functions/placement",
  component: page(() => import("./routes/PlacementRoute"), "PlacementRoute"),
});
export const functionModelsRoute = createRoute({
  getParentRoute: () => root,
  path: "/functions/models",
  component: page(() => import("./routes/FunctionModelsRoute"), "FunctionModelsRoute"),
});
export const remediesRoute = createRoute({
  getParentRoute: () => root,
  path: "/remedies",
  validateSearch: parseRemedySearch,
  component: page(() => import("./routes/RemediesRoute"), "RemediesRoute"),
});
export const rolloutsRoute = createRoute({
  getParentRoute: () => root,
  path: "/rollouts",
  component: page(() => import("./routes/RolloutsRoute"), "RolloutsRoute"),
});
export const newRolloutRoute = createRoute({
  getParentRoute: () => root,
  path: "/rollouts/new",
  validateSearch: parseRolloutSearch,
  component: page(() => import("./routes/NewRolloutRoute"), "NewRolloutRoute"),
});
export const rolloutRoute = createRoute({
  getParentRoute: () => root,
  path: "/rollouts/$id",
  component: page(() => import("./routes/RolloutRoute"), "RolloutRoute"),
});
export const planRoute = createRoute({
  getParentRoute: () => root,
  path: "/plans/$id",
  component: page(() => import("./routes/PlanRoute"), "PlanRoute"),
});
export const labRoute = createRoute({
  getParentRoute: () => root,
  path: "/lab",
  validateSearch: parseLabFilters,
  component: page(() => import("./routes/LabRoute"), "LabRoute"),
});
export const newCampaignRoute = createRoute({
  getParentRoute: () => root,
  path: "/lab/new",
  validateSearch: parseNewCampaignSearch,
  component: page(() => import("./routes/NewCampaignRoute"), "NewCampaignRoute"),
});
export const campaignRoute = createRoute({
  getParentRoute: () => root,
  path: "/lab/$id",
  component: page(() => import("./routes/CampaignRoute"), "CampaignRoute"),
});
export const capturesRoute = createRoute({
  getParentRoute: () => root,
  path: "/captures",
  validateSearch: parseCapturesSearch,
  component: page(() => import("./routes/CapturesRoute"), "CapturesRoute"),
});
export const captureRoute = createRoute({
  getParentRoute: () => root,
  path: "/captures/$id",
  validateSearch: parseCaptureSearch,
  component: page(() => import("./routes/CaptureRoute"), "CaptureRoute"),
});
export const hostsRoute = createRoute({
  getParentRoute: () => root,
  path: "/hosts",
  validateSearch: parseAgentFilters,
  component: page(() => import("./routes/HostsRoute"), "HostsRoute"),
});
export const webhooksRoute = createRoute({
  getParentRoute: () => root,
  path: "/webhooks",
  validateSearch: parseLogFilters,
  component: page(() => import("./routes/WebhooksRoute"), "WebhooksRoute"),
});
export const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: "/settings/$section",
  component: page(() => import("./routes/SettingsRoute"), "SettingsRoute"),
});
export const accountRoute = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: page(() => import("./routes/AccountRoute"), "AccountRoute"),
});

const routeTree = root.addChildren([
  fleetRoute,
  forecastsRoute,
  rnicRoute,
  incidentsRoute,
  incidentRoute,
  silencesRoute,
  policiesRoute,
  newPolicyRoute,
  policyRoute,
  editPolicyRoute,
  profilesRoute,
  profileRoute,
  symptomRoute,
  tenantsRoute,
  slosRoute,
  reportRoute,
  rnicVfsRoute,
  vfRoute,
  functionsRoute,
  placementRoute,
  functionModelsRoute,
  remediesRoute,
  rolloutsRoute,
  newRolloutRoute,
  rolloutRoute,
  planRoute,
  labRoute,
  newCampaignRoute,
  campaignRoute,
  capturesRoute,
  captureRoute,
  hostsRoute,
  agentsRoute,
  webhooksRoute,
  settingsIndexRoute,
  settingsRoute,
  accountRoute,
]);

export const router = createRouter({
  routeTree,
  // Each page's code is fetched when somebody points at a link to it, at the latest when it is opened.
  defaultPreload: "intent",
  defaultPendingComponent: LoadingPage,
  defaultPendingMs: 200,
  defaultErrorComponent: ErrorPage,
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
