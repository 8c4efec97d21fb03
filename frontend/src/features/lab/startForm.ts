import type { LabCatalogue, LabDevice, NewCampaign } from "@/lib/api/types";
import type { NewCampaignSearch } from "./search";

export const STRATEGIES = [
  { value: "adaptive", label: "Adaptive (recommended)" },
  { value: "pairwise", label: "Pairwise, without adaptation" },
  { value: "one-factor", label: "One parameter at a time" },
  { value: "random", label: "Random" },
  { value: "exhaustive", label: "Exhaustive: every combination" },
] as const;

export interface Draft {
  device: string | null;
  target: string | null;
  budget: number | string;
  minutes: number | string;
  seed: number | string;
  strategy: NonNullable<NewCampaign["strategy"]>;
  /** Names of the parameters that are varied. */
  varied: ReadonlySet<string>;
}

export const BUDGET = { least: 10, most: 1_000_000 };
export const MINUTES = { least: 1, most: 7 * 24 * 60 };
const MOST_SEED = 2 ** 31 - 1;

/** The parameters of a device in which a cause shows; all of them without a cause, or for one that shows in none. */
export function variedFor(device: LabDevice | undefined, cause: string | undefined): ReadonlySet<string> {
  const names = device?.parameters.map(({ name }) => name) ?? [];
  const fitting = device?.parameters.filter(({ causes }) => cause !== undefined && causes.includes(cause)) ?? [];
  return new Set(fitting.length > 0 ? fitting.map(({ name }) => name) : names);
}

/** The device that a link asks for, or else the one that shows the cause best. */
export function deviceFor(devices: readonly LabDevice[], { device, cause }: NewCampaignSearch): LabDevice | undefined {
  const ready = devices.filter(({ available }) => available);
  const named = devices.find(({ name }) => name === device);
  if (named) return named;
  const shows = (each: LabDevice) =>
    each.parameters.filter(({ causes }) => cause !== undefined && causes.includes(cause)).length;
  return cause === undefined
    ? ready.length === 1
      ? ready[0]
      : undefined
    : ready.filter((each) => shows(each) > 0).sort((a, b) => shows(b) - shows(a))[0];
}

export function initialDraft(devices: readonly LabDevice[], search: NewCampaignSearch): Draft {
  const device = deviceFor(devices, search);
  return {
    device: device?.name ?? null,
    target: null,
    budget: 1000,
    minutes: 240,
    seed: 1,
    strategy: "adaptive",
    varied: variedFor(device, search.cause),
  };
}

const isWhole = (value: number | string, least: number, most: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;

/** What is wrong with a draft, by field. */
export function problemsOf(draft: Draft): Partial<Record<"device" | "budget" | "minutes" | "seed" | "varied", string>> {
  return {
    ...(draft.device === null ? { device: "Choose a device" } : {}),
    ...(isWhole(draft.budget, BUDGET.least, BUDGET.most) ? {} : { budget: "A number from 10 to 1,000,000" }),
    ...(isWhole(draft.minutes, MINUTES.least, MINUTES.most) ? {} : { minutes: "A number from 1 to 10,080 (a week)" }),
    ...(isWhole(draft.seed, 0, MOST_SEED) ? {} : { seed: "A whole number" }),
    ...(draft.varied.size === 0 ? { varied: "Choose at least one parameter" } : {}),
  };
}

/** The request of a draft without problems. */
export function requestOf(draft: Draft, device: LabDevice, incident: string | undefined): NewCampaign {
  const all = device.parameters.every(({ name }) => draft.varied.has(name));
  return {
    device: device.name,
    target: draft.target,
    budget: Number(draft.budget),
    max_time_s: Number(draft.minutes) * 60,
    seed: Number(draft.seed),
    strategy: draft.strategy,
    parallel: 1,
    parameters: all ? null : device.parameters.map(({ name }) => name).filter((name) => draft.varied.has(name)),
    ...(incident ? { incident_id: incident } : {}),
  };
}

/** What is safe on a host, of the dimension that a parameter belongs to; null where the catalogue has no range. */
export function safeText(catalogue: LabCatalogue | undefined, dimension: string | null): string | null {
  const found = catalogue?.dimensions.find(({ id }) => id === dimension);
  if (!found?.safe) return null;
  return `${found.safe.low.toLocaleString("en")} to ${found.safe.high.toLocaleString("en")}${found.unit ? ` ${found.unit}` : ""}`;
}
