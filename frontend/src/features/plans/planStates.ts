import type { Plan, PlanSummary } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import type { Tone } from "@/lib/ui/StatusMark";

export const PLAN_STATES: Readonly<Record<PlanSummary["state"], { label: string; tone: Tone; text: string }>> = {
  reading: {
    label: "Reading flows",
    tone: "quiet",
    text: "The agent is reading the host's flows; nothing is changed.",
  },
  planning: { label: "Planning", tone: "quiet", text: "Building and verifying the plan…" },
  ready: { label: "Proven", tone: "good", text: "Forwarding behaviour is unchanged; only lookup order changes." },
  not_proven: {
    label: "Not proven",
    tone: "bad",
    text: "It cannot be applied: some packets could be forwarded differently.",
  },
  failed: { label: "Failed", tone: "bad", text: "No plan was created." },
};

export function isInProgress(state: PlanSummary["state"]): boolean {
  return state === "reading" || state === "planning";
}

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
