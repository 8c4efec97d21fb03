import type { SurfacePoint } from "@/charts/surface/model";
import type { PlacedRnic, ProfileVersionSummary, RnicPerformance } from "@/lib/api/types";
import { formatNumber, formatShare, formatValue } from "@/lib/format";
import type { Tone } from "@/lib/ui/StatusMark";

export const STATES: Readonly<Record<ProfileVersionSummary["state"], { tone: Tone; word: string }>> = {
  active: { tone: "good", word: "active" },
  candidate: { tone: "warn", word: "candidate" },
  refused: { tone: "bad", word: "refused" },
  retired: { tone: "quiet", word: "inactive" },
};

export const SOURCES: Readonly<Record<ProfileVersionSummary["source"], string>> = {
  catalogue: "built-in (paper, Table 3)",
  perftest: "perftest",
  fleet: "fleet’s own samples",
  lab: "lab campaign",
};

export function scopeText({ driver, fw_ver }: { driver: string; fw_ver: string }): string {
  const parts = [driver && `driver ${driver}`, fw_ver && `firmware ${fw_ver}`].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : "all drivers and firmware";
}

/** Mean lookups per packet when its traffic is spread evenly over so many masks: the head has none before it. */
export function queriesOf(masks: number): number {
  return Math.max(0, (masks - 1) / 2);
}

/** An interval next to its value: `121 (110 to 132) Gbit/s`. */
export function estimateText(
  { value, lower, upper }: { value: number; lower: number; upper: number },
  unit: string,
): string {
  return `${formatNumber(value)} (${formatNumber(lower)} to ${formatNumber(upper)}) ${unit}`;
}

export function placed(rnics: readonly PlacedRnic[]): SurfacePoint[] {
  return rnics.map(({ host, pci, q_l, q_r, expected_gbps, measured_gbps }) => ({
    label: `${host} ${pci}`,
    qL: q_l,
    qR: q_r,
    note: `expected ${formatValue(expected_gbps, "Gbit/s")}, measured ${formatValue(measured_gbps, "Gbit/s")}`,
  }));
}

/** What the measured bandwidth says of the profile. Less than expected says nothing: traffic may want no more. */
export function verdictOf({ full, above, measured_gbps, bandwidth_gbps, minutes, at }: RnicPerformance): {
  tone: Tone;
  text: string;
} {
  if (measured_gbps === null || !bandwidth_gbps)
    return {
      tone: "quiet",
      text:
        at === null
          ? "No measurements in the last ten minutes."
          : `No verdict: it needs three minutes with both values, and there ${minutes === 1 ? "is 1" : `are ${minutes}`}.`,
    };
  const share = formatShare(measured_gbps / bandwidth_gbps.value);
  if (above)
    return {
      tone: "warn",
      text: `Measured bandwidth is ${share} of expected, above the interval: the profile is too low for this RNIC.`,
    };
  if (full)
    return {
      tone: "warn",
      text: `Measured bandwidth is ${share} of expected: the RNIC is the limit, not its traffic.`,
    };
  return {
    tone: "good",
    text: `Measured bandwidth is ${share} of what is possible: its traffic needs no more, or something else limits it.`,
  };
}
