import type { PolicySummary } from "@/lib/api/types";

export const STATES = ["violated", "unknown", "holding", "idle", "off"] as const;
export const SUBJECTS = ["flow", "vf", "rnic", "host", "command", "address"] as const;

/** What the list of policies shows, as it stands in the URL. */
export interface PolicyFilters {
  q?: string;
  state?: PolicySummary["state"];
  subject?: PolicySummary["subject"];
  own?: "yes" | "no";
}

function oneOf<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

export function parsePolicyFilters(search: Record<string, unknown>): PolicyFilters {
  const { q } = search;
  const filters: PolicyFilters = {
    state: oneOf(search["state"], STATES),
    subject: oneOf(search["subject"], SUBJECTS),
    own: oneOf(search["own"], ["yes", "no"]),
  };
  if (typeof q === "string" && q.trim()) filters.q = q.trim();
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as PolicyFilters;
}

const WORST: Readonly<Record<PolicySummary["state"], number>> = {
  violated: 0,
  unknown: 1,
  holding: 2,
  idle: 3,
  off: 4,
};

/** Those that match, what needs a look first. */
export function matching(
  policies: readonly PolicySummary[],
  { q, state, subject, own }: PolicyFilters,
): PolicySummary[] {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return policies
    .filter((policy) => {
      const text = [policy.id, policy.title, policy.formula, ...policy.symptoms, ...policy.causes]
        .join(" ")
        .toLowerCase();
      return (
        words.every((word) => text.includes(word)) &&
        (!state || policy.state === state) &&
        (!subject || policy.subject === subject) &&
        (!own || policy.own === (own === "yes"))
      );
    })
    .sort(
      (a, b) =>
        WORST[a.state] - WORST[b.state] ||
        b.violations_1h - a.violations_1h ||
        b.violations_24h - a.violations_24h ||
        a.id.localeCompare(b.id),
    );
}

/** A policy's page, as it stands in the URL. */
export interface PolicySearch {
  violation?: string;
}

export function parsePolicySearch(search: Record<string, unknown>): PolicySearch {
  const { violation } = search;
  return typeof violation === "string" && violation ? { violation } : {};
}

/** The editor: what it starts with. */
export interface EditorSearch {
  copy?: string;
  /** The cause of a campaign of the lab that a new policy is made of. */
  campaign?: string;
  cause?: number;
}

export function parseEditorSearch(search: Record<string, unknown>): EditorSearch {
  const { copy, campaign, cause } = search;
  const number = Number(cause);
  if (typeof campaign === "string" && /^[0-9a-f-]{36}$/.test(campaign) && Number.isInteger(number))
    return { campaign, cause: number };
  return typeof copy === "string" && copy ? { copy } : {};
}
