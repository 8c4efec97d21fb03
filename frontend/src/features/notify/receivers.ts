import type { Webhook } from "@/lib/api/types";

/** What a format needs to know of its receiver. */
export interface Receiver {
  label: string;
  placeholder: string;
  /** The address that nearly everyone uses; filled in when the format is chosen. */
  usual?: string;
  /** The key by which the receiver knows the sender. */
  key?: { label: string; hint: string };
}

const URL_FIELD: Receiver = { label: "URL", placeholder: "https://tickets.example.org/hooks/wallwatch" };

const OTHERS: Partial<Record<Webhook["format"], Receiver>> = {
  pagerduty: {
    label: "URL",
    placeholder: "https://events.pagerduty.com/v2/enqueue",
    usual: "https://events.pagerduty.com/v2/enqueue",
    key: { label: "Integration key", hint: "Of the service's integration “Events API V2”" },
  },
  opsgenie: {
    label: "URL",
    placeholder: "https://api.opsgenie.com/v2/alerts",
    usual: "https://api.opsgenie.com/v2/alerts",
    key: { label: "API key", hint: "Of an integration of the type API" },
  },
  email: { label: "Recipients", placeholder: "ann@example.org, on-call@example.org" },
};

export function receiverOf(format: Webhook["format"]): Receiver {
  return OTHERS[format] ?? URL_FIELD;
}

const SCHEME = "mailto:";

/** What the form shows of an address: recipients without the scheme. */
export function shownAddress(url: string): string {
  if (!url.startsWith(SCHEME)) return url;
  return url.slice(SCHEME.length).split(",").map(decodeURIComponent).join(", ");
}

/** What the API takes: recipients by commas after the scheme. */
export function sentAddress(format: Webhook["format"], shown: string): string {
  if (format !== "email") return shown.trim();
  const recipients = shown.split(/[,;\s]+/).filter((each) => each !== "");
  return SCHEME + recipients.map((each) => encodeURIComponent(each).replaceAll("%40", "@")).join(",");
}

/** Why an address cannot be one, or null. */
export function addressError(format: Webhook["format"], shown: string): string | null {
  if (format === "email") {
    const recipients = shown.split(/[,;\s]+/).filter((each) => each !== "");
    if (recipients.length === 0) return "Enter at least one e-mail address";
    const wrong = recipients.find((each) => !/^[^@]+@[^@]+$/.test(each));
    return wrong === undefined ? null : `${wrong} is not an e-mail address`;
  }
  return /^https?:\/\/\S+$/.test(shown) ? null : "Enter a URL that starts with http:// or https://";
}

/** The address after another format was chosen: the usual one of the new format in place of nothing, of recipients, or of another usual one. */
export function addressFor(format: Webhook["format"], before: Webhook["format"], shown: string): string {
  const replaceable =
    shown.trim() === "" || shown === receiverOf(before).usual || (before === "email") !== (format === "email");
  return replaceable ? (receiverOf(format).usual ?? "") : shown;
}
