import type { Plan, PlanSummary } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import type { Tone } from "@/lib/ui/StatusMark";

/** `bandwidth +38%, latency −27%`: what a plan should gain; what is unknown is left out. */
export function gainText(plan: Pick<PlanSummary, "bandwidth_gain" | "latency_gain">): string {
  const signed = (share: number) => `${share < 0 ? "−" : "+"}${formatShare(Math.abs(share))}`;
  const parts = [
    ...(plan.bandwidth_gain === null ? [] : [`bandwidth ${signed(plan.bandwidth_gain)}`]),
    // A gain in latency is less of it.
    ...(plan.latency_gain === null ? [] : [`latency ${signed(-plan.latency_gain)}`]),
  ];
  return parts.length === 0 ? "gain unknown" : parts.join(", ");
}

type Check = NonNullable<Plan["check"]>;

export const CHECK_STATES: Readonly<Record<Check["state"], { label: string; tone: Tone }>> = {
  waiting: { label: "Waiting for the switch's flows", tone: "quiet" },
  equivalent: { label: "Verified on the switch's own flows", tone: "good" },
  different: { label: "Not equivalent: OVS handles a packet differently", tone: "bad" },
  not_checked: { label: "Not checked on the switch", tone: "warn" },
};
