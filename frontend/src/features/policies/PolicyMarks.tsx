import type { Policy, PolicySummary } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";

const TONES: Readonly<Record<PolicySummary["state"], Tone>> = {
  violated: "bad",
  unknown: "warn",
  holding: "good",
  idle: "quiet",
  off: "quiet",
};
export const STATE_LABELS: Readonly<Record<PolicySummary["state"], string>> = {
  violated: "violated",
  unknown: "unknown",
  holding: "holding",
  idle: "no subjects",
  off: "off",
};

export const SUBJECT_LABELS: Readonly<Record<PolicySummary["subject"], string>> = {
  flow: "flow",
  vf: "virtual function",
  rnic: "RNIC",
  host: "host",
  command: "command",
  address: "address",
};

/** A policy that is off says why. */
export function PolicyStateMark({ policy }: { policy: Pick<PolicySummary, "state" | "lifecycle"> }) {
  return (
    <StatusMark tone={TONES[policy.state]}>
      {policy.state === "off" ? (policy.lifecycle === "draft" ? "draft" : "disabled") : STATE_LABELS[policy.state]}
    </StatusMark>
  );
}

/** Why an enabled policy is unknown, or how much of it is known. */
export function coverageText(
  policy: Pick<PolicySummary, "lifecycle" | "heard_at" | "subjects" | "unknown" | "hosts">,
): string {
  if (policy.lifecycle !== "enabled") return "";
  if (policy.heard_at === null) return "no collector reports";
  if (policy.subjects === 0) return `${plural(policy.hosts, "host")}, no subject`;
  const known = policy.unknown > 0 ? `, ${plural(policy.unknown, "unknown", "unknown")}` : "";
  return `${plural(policy.subjects, "subject")} on ${plural(policy.hosts, "host")}${known}`;
}

export function agentsText(policy: Pick<Policy, "agents_running" | "agents_expected" | "where" | "lifecycle">): string {
  if (policy.where === "server") return policy.lifecycle === "enabled" ? "runs on the server" : "on the server";
  return `${policy.agents_running} of ${plural(policy.agents_expected, "agent")}`;
}
