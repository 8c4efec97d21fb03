import type { Machine, State } from "@/lib/states";

interface EventChoice {
  value: string;
  label: string;
}

interface EventGroup {
  title: string;
  events: readonly EventChoice[];
}

/** The tables whose states send webhooks. */
export type EventTables = Readonly<
  Record<Extract<Machine, "incident" | "remedy" | "rollout" | "campaign">, readonly State[]>
>;

/** Names of events that more than one state sends. */
const OWN_LABELS: Readonly<Record<string, string>> = {
  "incident.opened": "Opened or reopened",
  "incident.updated": "Changed",
};

/** Events of a rollout's waves, which are no states of the rollout. */
const WAVE_EVENTS: readonly EventChoice[] = [
  { value: "rollout.wave_started", label: "Wave started" },
  { value: "rollout.wave_confirmed", label: "Wave confirmed" },
];

/** Conditions besides incidents; each is followed by the event of its end. */
const CONDITION_EVENTS: readonly EventChoice[] = [
  { value: "forecast.expected", label: "Likely to reach a limit within the hour" },
  { value: "decline.expected", label: "Decline of bandwidth likely within the hour" },
  { value: "policy.violated", label: "Policy violated" },
  { value: "agent.lost", label: "Agent lost" },
  { value: "certificate.late", label: "Agent certificate late" },
];

/** Their ends, which nobody subscribes to alone. */
const CONDITION_ENDS: readonly EventChoice[] = [
  { value: "forecast.ended", label: "forecast: ended" },
  { value: "decline.ended", label: "decline: ended" },
  { value: "policy.cleared", label: "policy: cleared" },
  { value: "agent.connected", label: "agent: connected again" },
  { value: "certificate.renewed", label: "certificate: renewed" },
];

/** The events that the states of a table send, each once. */
function eventsOf(table: readonly State[]): EventChoice[] {
  const labels = new Map<string, string>();
  for (const { event, label } of table) if (event && !labels.has(event)) labels.set(event, OWN_LABELS[event] ?? label);
  return [...labels].map(([value, label]) => ({ value, label }));
}

/** Events of webhooks, in the groups in which the form shows them. */
export function eventGroups({ incident, remedy, rollout, campaign }: EventTables): EventGroup[] {
  return [
    { title: "Incidents", events: eventsOf(incident) },
    { title: "Remedies", events: eventsOf(remedy) },
    { title: "Rollouts", events: [...eventsOf(rollout), ...WAVE_EVENTS] },
    { title: "Lab campaigns", events: eventsOf(campaign) },
    { title: "Early warnings", events: CONDITION_EVENTS.slice() },
  ];
}

/** What a new webhook is sent, until its creator chooses. */
export function defaultEvents({ incident }: Pick<EventTables, "incident">): string[] {
  return eventsOf(incident).map(({ value }) => value);
}

/** Every event that can be in a webhook's log: those to choose, and what Wallwatch sends besides. */
export function logEvents(tables: EventTables): EventChoice[] {
  const [incidents, ...orders] = eventGroups(tables).map(({ events }) =>
    events.map(({ value, label }) => ({ value, label: `${value.split(".")[0]}: ${label.toLowerCase()}` })),
  );
  return [
    ...(incidents ?? []),
    { value: "incident.repeated", label: "incident: repeated" },
    { value: "incident.group", label: "incident: group" },
    ...orders.flat(),
    ...CONDITION_ENDS,
    { value: "webhook.test", label: "test" },
  ];
}
