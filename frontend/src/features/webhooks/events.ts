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
  { value: "remedy.proposed", label: "A remedy waits for approval" },
  { value: "remedy.approved", label: "A remedy may be applied" },
  { value: "remedy.rejected", label: "A remedy is rejected" },
  { value: "remedy.dispatched", label: "A remedy is sent to its host" },
  { value: "remedy.running", label: "A remedy is applied" },
  { value: "remedy.verified", label: "A remedy worked" },
  { value: "remedy.failed", label: "A remedy failed" },
  { value: "remedy.undone", label: "A remedy is undone" },
  { value: "remedy.expired", label: "A remedy expires" },
];

const ROLLOUT_EVENTS: readonly EventChoice[] = [
  { value: "rollout.proposed", label: "A rollout waits for approval" },
  { value: "rollout.started", label: "A rollout starts" },
  { value: "rollout.rejected", label: "A rollout is rejected" },
  { value: "rollout.wave_started", label: "A wave starts" },
  { value: "rollout.wave_done", label: "A wave is verified" },
  { value: "rollout.paused", label: "A rollout pauses" },
  { value: "rollout.resumed", label: "A rollout goes on" },
  { value: "rollout.stopped", label: "A rollout stops" },
  { value: "rollout.done", label: "A rollout is done" },
  { value: "rollout.undo_started", label: "A rollout is being taken back" },
  { value: "rollout.undone", label: "A rollout is taken back" },
];

/** What a webhook can be told, in the groups in which the form shows it. */
export const EVENT_GROUPS = [
  { title: "Incidents", events: INCIDENT_EVENTS },
  { title: "Remedies", events: REMEDY_EVENTS },
  { title: "Rollouts", events: ROLLOUT_EVENTS },
] as const;

/** Names of the events of remedies and rollouts, as the log's filter shows them. */
export const ORDER_EVENTS = [...REMEDY_EVENTS, ...ROLLOUT_EVENTS].map(({ value }) => ({ value, label: value.replace(".", " ").replace("_", " ") }));
