import type { Webhook } from "@/lib/api/types";

interface EventChoice {
  value: Webhook["events"][number];
  label: string;
}

export const INCIDENT_EVENTS: readonly EventChoice[] = [
  { value: "incident.opened", label: "An incident opens" },
  { value: "incident.updated", label: "An incident changes" },
  { value: "incident.resolved", label: "An incident is resolved" },
];

const REMEDY_EVENTS: readonly EventChoice[] = [
  { value: "remedy.pending", label: "A remedy needs approval" },
  { value: "remedy.rejected", label: "A remedy is rejected" },
  { value: "remedy.approved", label: "A remedy is approved" },
  { value: "remedy.running", label: "A remedy runs" },
  { value: "remedy.verifying", label: "A remedy is applied" },
  { value: "remedy.confirmed", label: "A remedy is confirmed" },
  { value: "remedy.not_confirmed", label: "A remedy is not confirmed" },
  { value: "remedy.failed", label: "A remedy failed" },
  { value: "remedy.refused", label: "A remedy is refused" },
  { value: "remedy.expired", label: "A remedy expires" },
  { value: "remedy.undone", label: "A remedy is undone" },
];

const ROLLOUT_EVENTS: readonly EventChoice[] = [
  { value: "rollout.pending", label: "A rollout needs approval" },
  { value: "rollout.rejected", label: "A rollout is rejected" },
  { value: "rollout.running", label: "A rollout starts or resumes" },
  { value: "rollout.wave_started", label: "A wave starts" },
  { value: "rollout.wave_confirmed", label: "A wave is confirmed" },
  { value: "rollout.paused", label: "A rollout pauses" },
  { value: "rollout.stopped", label: "A rollout stops" },
  { value: "rollout.confirmed", label: "A rollout is confirmed" },
  { value: "rollout.undoing", label: "A rollout is rolling back" },
  { value: "rollout.undo_paused", label: "A rollback is paused" },
  { value: "rollout.undone", label: "A rollout is rolled back" },
];

/** Events of webhooks, in the groups in which the form shows them. */
export const EVENT_GROUPS = [
  { title: "Incidents", events: INCIDENT_EVENTS },
  { title: "Remedies", events: REMEDY_EVENTS },
  { title: "Rollouts", events: ROLLOUT_EVENTS },
] as const;

/** Names of the events of remedies and rollouts, as the log's filter shows them. */
export const ORDER_EVENTS = [...REMEDY_EVENTS, ...ROLLOUT_EVENTS].map(({ value }) => ({
  value,
  label: value.replace(".", " ").replace("_", " "),
}));
