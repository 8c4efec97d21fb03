/** Every page of the UI, in the states in which it is looked at; pictures.test.mjs fails when a route has none. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const RNIC = "host03/0000:86:00.0";

/** Name of the picture and path; ids are those of the mock's full fleet. */
export const PAGES = [
  ["fleet", "/"],
  ["fleet-replay", "/?at=2026-01-15T11:45Z"],
  ["fleet-tenants", "/?group=tenant"],
  ["forecasts", "/forecasts"],
  ["rnic", `/rnics/${RNIC}`],
  ["rnic-flows", `/rnics/${RNIC}?tab=flows`],
  ["rnic-vfs", `/rnics/${RNIC}?tab=vfs`],
  ["rnic-policies", `/rnics/${RNIC}?tab=policies`],
  ["rnic-forecast", `/rnics/${RNIC}?tab=forecast`],
  ["rnic-hardware", `/rnics/${RNIC}?tab=hardware`],
  ["incidents", "/incidents?state=all"],
  ["incidents-grouped", "/incidents?state=all&group=rack"],
  ["incident", `/incidents/${ID(11)}`],
  ["silences", "/silences"],
  ["policies", "/policies"],
  ["policy", "/policies/rnic-link-comes-back"],
  ["policy-new", "/policies/new"],
  ["policy-edit", "/policies/rnic-link-comes-back/edit"],
  ["profiles", "/profiles"],
  ["profile", "/profiles/CX-6"],
  ["symptom", "/symptoms/S1"],
  ["tenants", "/tenants"],
  ["slos", "/tenants/slos"],
  ["report", "/tenants/report"],
  ["tenant-rnic", `/tenants/rnics/${RNIC}`],
  ["tenant-vf", `/tenants/rnics/${RNIC}/vfs/1`],
  ["functions", "/functions"],
  ["placement", "/functions/placement"],
  ["function-models", "/functions/models"],
  ["remedies", "/remedies"],
  ["rollouts", "/rollouts"],
  ["rollout", `/rollouts/${ID(701)}`],
  ["rollout-new", "/rollouts/new"],
  ["plan", `/plans/${ID(603)}`],
  ["lab", "/lab"],
  ["lab-new", "/lab/new"],
  ["campaign", `/lab/${ID(802)}`],
  ["captures", "/captures"],
  ["capture", `/captures/${ID(902)}`],
  ["hosts", "/hosts"],
  ["webhooks", "/webhooks"],
  ["tokens", "/settings/tokens"],
  ["users", "/settings/users"],
  ["audit", "/settings/audit"],
  ["account", "/account"],
  ["not-found", "/no-such-page"],
];

/** Looked at without data and without a backend, too. */
const IN_ALL_STATES = [
  "fleet",
  "forecasts",
  "incidents",
  "incident",
  "tenants",
  "functions",
  "lab",
  "captures",
  "remedies",
  "hosts",
  "webhooks",
];

export const WIDTHS = [1280, 1920, 800];
export const THEMES = ["dark", "light"];

/** Every picture: its name, the mock's fleet, the path, the window and the theme. */
export function pictures(only = "") {
  const found = [];
  for (const [name, path] of PAGES)
    for (const kind of ["full", "empty", "broken"])
      for (const width of WIDTHS)
        for (const theme of THEMES) {
          if (kind !== "full" && (width !== WIDTHS[0] || !IN_ALL_STATES.includes(name))) continue;
          const state = kind === "full" ? "" : `-${kind}`;
          const id = `${name}${state}-${width}-${theme}`;
          if (id.includes(only)) found.push({ id, kind, path, width, theme });
        }
  return found;
}
