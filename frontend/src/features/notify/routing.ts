import type { Webhook } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { matchersText } from "@/shared/matchers/matchers";

export const FORMATS: readonly { value: Webhook["format"]; label: string; about: string }[] = [
  {
    value: "native",
    label: "Native",
    about: "The incident as the API shows it, with its evidence. Its JSON Schema is at /api/v1/webhooks/schema.",
  },
  {
    value: "alertmanager",
    label: "Alertmanager receiver",
    about: "The body of Alertmanager's webhooks (version 4), for receivers that know it.",
  },
  {
    value: "alertmanager_api",
    label: "Alertmanager",
    about:
      "Alerts for Alertmanager's own address, https://…/api/v2/alerts: its routes, silences and receivers apply. It groups by itself, and repetition keeps its alerts alive.",
  },
  {
    value: "slack",
    label: "Slack",
    about: "A message with attachments for an incoming webhook of Slack, Mattermost or Rocket.Chat.",
  },
  {
    value: "teams",
    label: "Microsoft Teams",
    about: "An Adaptive Card for a webhook of Workflows in Microsoft Teams.",
  },
  {
    value: "pagerduty",
    label: "PagerDuty",
    about: "Triggers, acknowledges and resolves an alert per incident, through the Events API.",
  },
  {
    value: "opsgenie",
    label: "Opsgenie",
    about: "Creates, acknowledges and closes an alert per incident; Jira Service Management takes the same.",
  },
  {
    value: "email",
    label: "E-mail",
    about: "A message to each recipient, through the mail server of the settings; one thread per incident.",
  },
];

export function formatLabel(format: Webhook["format"]): string {
  return FORMATS.find((each) => each.value === format)?.label ?? format;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const REPEATS = [10 * MINUTE, 30 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 7 * DAY];

/** The choices of the repeat interval; one that was set by the API and is not among them stays choosable. */
export function repeatChoices(current: number | null): { value: string; label: string }[] {
  const all = current === null || REPEATS.includes(current) ? REPEATS : [...REPEATS, current].sort((a, b) => a - b);
  return [
    { value: "never", label: "never" },
    ...all.map((seconds) => ({ value: String(seconds), label: `every ${formatDuration(seconds * 1000)}` })),
  ];
}

export function toRepeat(value: string | null): number | null {
  return value === null || value === "never" ? null : Number(value);
}

type Route = Pick<Webhook, "matchers" | "group_by" | "group_wait_s" | "group_interval_s" | "repeat_interval_s">;

/** Alertmanager groups by itself, and ends alerts that are not sent again: its own API takes no other route. */
export function fitRoute(format: Webhook["format"], route: Route): Route {
  if (format !== "alertmanager_api") return route;
  return {
    ...route,
    group_by: [],
    group_wait_s: 0,
    group_interval_s: 0,
    repeat_interval_s: route.repeat_interval_s ?? 10 * MINUTE,
  };
}

/** What a webhook gets and when, in one line. */
export function routeText({ matchers, group_by, group_wait_s, group_interval_s, repeat_interval_s }: Route): string {
  const parts = [matchers.length === 0 ? "every incident" : `incidents where ${matchersText(matchers)}`];
  if (group_by.length > 0) parts.push(`grouped by ${group_by.join(", ")}`);
  if (group_wait_s > 0) parts.push(`after ${formatDuration(group_wait_s * 1000)}`);
  if (group_interval_s > 0) parts.push(`then at most every ${formatDuration(group_interval_s * 1000)}`);
  if (repeat_interval_s !== null)
    parts.push(`repeated every ${formatDuration(repeat_interval_s * 1000)} while unresolved`);
  return parts.join(" · ");
}
