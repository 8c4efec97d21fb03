export interface Crumb {
  label: string;
  /** Where it leads; without, it only names a level. */
  to?: string;
  search?: Record<string, string>;
}

type Params = Readonly<Record<string, string | undefined>>;

const vfsPath = ({ host, pci }: Params) => `/tenants/rnics/${host ?? ""}/${pci ?? ""}`;

/** The levels above each page that has any, by the route's id. The page's own title ends the trail. */
const ABOVE: Readonly<Record<string, (params: Params) => Crumb[]>> = {
  "/rnics/$host/$pci": ({ host = "" }) => [
    { label: "Fleet", to: "/" },
    { label: host, to: "/", search: { host } },
  ],
  "/incidents/$id": () => [{ label: "Incidents", to: "/incidents" }],
  "/symptoms/$symptom": () => [{ label: "Symptoms" }],
  "/policies/new": () => [{ label: "Policies", to: "/policies" }],
  "/policies/$id": () => [{ label: "Policies", to: "/policies" }],
  "/policies/$id/edit": ({ id = "" }) => [
    { label: "Policies", to: "/policies" },
    { label: id, to: `/policies/${id}` },
  ],
  "/profiles/$model": () => [{ label: "Profiles", to: "/profiles" }],
  "/tenants/rnics/$host/$pci": () => [{ label: "Tenants", to: "/tenants" }],
  "/tenants/rnics/$host/$pci/vfs/$vf": (params) => [
    { label: "Tenants", to: "/tenants" },
    { label: `VFs of ${params["host"] ?? ""} ${params["pci"] ?? ""}`, to: vfsPath(params) },
  ],
  "/rollouts/new": () => [{ label: "Rollouts", to: "/rollouts" }],
  "/rollouts/$id": () => [{ label: "Rollouts", to: "/rollouts" }],
  "/plans/$id": () => [{ label: "Remedies", to: "/remedies" }],
  "/lab/new": () => [{ label: "Lab", to: "/lab" }],
  "/lab/$id": () => [{ label: "Lab", to: "/lab" }],
  "/captures/$id": () => [{ label: "Captures", to: "/captures" }],
};

/** What leads to a page, the nearest level last; nothing for the pages of the side bar. */
export function trailTo(route: string, params: Params): Crumb[] {
  return ABOVE[route]?.(params) ?? [];
}

/** The last crumb: the page's title without the levels that stand before it. */
export function leafOf(route: string, params: Params, title: string): string {
  if (route === "/rnics/$host/$pci") return params["pci"] ?? title;
  if (route === "/tenants/rnics/$host/$pci/vfs/$vf") return `VF ${params["vf"] ?? ""}`;
  return route === "/policies/$id/edit" ? "Edit" : title;
}
