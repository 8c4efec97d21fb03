import {
  IconAlertTriangle,
  IconBellOff,
  IconChartLine,
  IconFileSearch,
  IconFlask,
  IconGauge,
  IconLayoutGrid,
  IconListCheck,
  IconRoute,
  IconServer2,
  IconSettings,
  IconStack2,
  IconTool,
  IconUsersGroup,
  IconWebhook,
} from "@tabler/icons-react";

/** The pages of the side bar. One list for the bar, the chords, their help and the palette. */
const GROUPS = [
  {
    label: "Monitor",
    places: [
      { label: "Fleet", to: "/", chord: "w", icon: IconLayoutGrid, under: ["/rnics"] },
      { label: "Incidents", to: "/incidents", chord: "i", icon: IconAlertTriangle, under: ["/symptoms"] },
      { label: "Silences", to: "/silences", chord: "q", icon: IconBellOff, under: [] },
      { label: "Forecasts", to: "/forecasts", chord: "o", icon: IconChartLine, under: [] },
    ],
  },
  {
    label: "Investigate",
    places: [
      { label: "Tenants", to: "/tenants", chord: "t", icon: IconUsersGroup, under: [] },
      { label: "Lab", to: "/lab", chord: "l", icon: IconFlask, under: [] },
      { label: "Captures", to: "/captures", chord: "c", icon: IconFileSearch, under: [] },
      { label: "Functions", to: "/functions", chord: "f", icon: IconRoute, under: [] },
    ],
  },
  {
    label: "Act",
    places: [
      { label: "Remedies", to: "/remedies", chord: "r", icon: IconTool, under: ["/plans"] },
      { label: "Rollouts", to: "/rollouts", chord: "u", icon: IconStack2, under: [] },
      { label: "Policies", to: "/policies", chord: "p", icon: IconListCheck, under: [] },
    ],
  },
  {
    label: "Manage",
    places: [
      { label: "Hosts", to: "/hosts", chord: "h", icon: IconServer2, under: [] },
      { label: "Profiles", to: "/profiles", chord: "m", icon: IconGauge, under: [] },
      { label: "Webhooks", to: "/webhooks", chord: "k", icon: IconWebhook, under: [] },
      { label: "Settings", to: "/settings", chord: "s", icon: IconSettings, under: [] },
    ],
  },
] as const;

export type Place = (typeof GROUPS)[number]["places"][number];

export const PLACE_GROUPS: readonly { label: string; places: readonly Place[] }[] = GROUPS;
export const PLACES: readonly Place[] = PLACE_GROUPS.flatMap((group) => group.places);

const isBelow = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/** The page of the side bar that a path belongs to: an RNIC to the fleet, a mask plan to the remedies. */
export function placeOf(path: string): Place | undefined {
  return PLACES.find(
    ({ to, under }) => (to === "/" ? path === "/" : isBelow(path, to)) || under.some((prefix) => isBelow(path, prefix)),
  );
}
