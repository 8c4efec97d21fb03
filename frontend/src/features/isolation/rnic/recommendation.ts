import type { Incident, VfIsolation } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { purposeOf, type PurposeFor } from "@/shared/remedies/order/purpose";
import { rateText } from "../text";

export const LIMIT_ACTION = "limit-vf-rate";

type Known = Pick<VfIsolation, "vf" | "tx_mbps" | "share" | "fair_share" | "slo">;

/** The smallest limit that the driver takes. */
const LEAST_MBPS = 10;

export interface Recommendation {
  mbps: number;
  /** How the value comes about, for the one who applies it. */
  why: string;
}

/**
 * The rate at which a VF would be back at its fair share: its load is proportional to what it sends, so the rate shrinks
 * as the share does. Never below what it is promised. Null where a value is missing, or the VF takes no more than its share.
 */
export function recommend({ tx_mbps, share, fair_share, slo }: Known): Recommendation | null {
  if (tx_mbps === null || share === null || fair_share === null || share <= fair_share || tx_mbps <= 0) return null;
  const fair = tx_mbps * (fair_share / share);
  const floor = Math.max(LEAST_MBPS, slo?.min_mbps ?? 0);
  const mbps = Math.round(Math.max(fair, floor));
  const derivation = `It sends ${rateText(tx_mbps)} and takes ${formatShare(share)} of what the RNIC can carry; its fair share is ${formatShare(fair_share)}`;
  return {
    mbps,
    why:
      fair >= floor
        ? `${derivation}, which is ${rateText(mbps)}.`
        : `${derivation}. The limit is no lower than ${slo && slo.min_mbps >= LEAST_MBPS ? "what it is promised" : "the driver takes"}, ${rateText(mbps)}.`,
  };
}

type Open = Pick<Incident, "id" | "symptom" | "title" | "remedies">;

/** The incidents whose suggestion is about this VF: another VF's recommended rate must not be set on it. */
export function ofVf(incidents: readonly Open[], vf: number): Open[] {
  return incidents.map((incident) => ({
    ...incident,
    remedies: incident.remedies.filter(
      ({ action, params }) => action !== LIMIT_ACTION || Number((params as Record<string, unknown>)["vf"]) === vf,
    ),
  }));
}

/** Which incident a remedy on this VF is for: the one that suggests it, else an open one about isolation. */
export function purposeForVf(incidents: readonly Open[], vf: number): PurposeFor {
  const own = ofVf(incidents, vf);
  const about = incidents.find((incident) => incident.symptom === "isolation");
  return (action) => purposeOf(action, own) ?? (about ? { incident: about } : null);
}
