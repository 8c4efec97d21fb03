import type { Commonality } from "@/lib/api/types";
import { formatShare } from "@/lib/format";

/** `firmware 22.36.1010`, `driver_reloaded in the last hour`. */
export function propertyText({ dimension, value }: Pick<Commonality, "dimension" | "value">): string {
  return dimension === "change" ? `${value.replaceAll("_", " ")} in the last hour` : `${dimension} ${value}`;
}

/** `5 of 6 sick hosts, 20% of all`. */
export function countText(
  { sick_with, all_with }: Commonality,
  { sick, hosts }: { sick: number; hosts: number },
): string {
  return `${sick_with} of ${sick} sick hosts, ${formatShare(all_with / hosts)} of all`;
}

/** Why it is no accident: how many times more often, and the chance of as much without any pattern. */
export function reasonText({ lift, chance }: Commonality, tested: number): string {
  const times = `${Number(lift.toPrecision(2))} times as frequent among sick hosts as in the fleet.`;
  const odds = chance < 1e-6 ? "less than one in a million" : `1 in ${Math.round(1 / chance).toLocaleString("en")}`;
  return `${times} The chance of this without a pattern is ${odds}, corrected for ${tested} tested properties. A pattern is not yet a cause.`;
}
