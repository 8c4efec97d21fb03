import type { Found, IncidentSummary } from "@/lib/api/types";
import { PLACES } from "../frame/places";

export type Kind = "page" | "action" | "rnic" | "host" | "pod" | "incident";

/** What can be chosen again later: it has an address. */
export interface Destination {
  kind: Exclude<Kind, "action">;
  label: string;
  detail: string;
  href: string;
}

export interface Action {
  kind: "action";
  label: string;
  detail: string;
  run: () => void;
}

export type Entry = Destination | Action;

export interface Group {
  label: string;
  entries: readonly Entry[];
}

const at = (...parts: string[]) => `/${parts.map(encodeURIComponent).join("/")}`;
const page = (label: string, href: string, detail = ""): Destination => ({ kind: "page", label, detail, href });

/** Pages that are not in the side bar, but that someone may look for. */
const MORE_PAGES: readonly Destination[] = [
  page("SLOs", "/tenants/slos", "Tenants"),
  page("SLO report", "/tenants/report", "Tenants"),
  page("Placement", "/functions/placement", "Functions"),
  page("Models of functions", "/functions/models", "Functions"),
  page("Users", "/settings/users", "Settings"),
  page("API tokens", "/settings/tokens", "Settings"),
  page("Audit log", "/settings/audit", "Settings"),
  page("Account", "/account", "password, second factor, sessions"),
  page("New policy", "/policies/new", "Policies"),
  page("Roll out a remedy", "/rollouts/new", "Rollouts"),
  page("Start a campaign", "/lab/new", "Lab"),
];

export const PAGES: readonly Destination[] = [
  ...PLACES.map(({ label, to, chord }) => page(label, to, `g ${chord}`)),
  ...MORE_PAGES,
];

const wordsOf = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Whether each word that was typed begins a word of the entry. */
export function matches(entry: Entry, text: string): boolean {
  const known = wordsOf(`${entry.label} ${entry.kind === "action" ? entry.detail : ""}`);
  return wordsOf(text).every((word) => known.some((each) => each.startsWith(word)));
}

export function hitsOf(found: Found | undefined): Group[] {
  if (!found) return [];
  const rnics = found.rnics.map(({ host, pci, rack, model, symptoms }): Destination => ({
    kind: "rnic",
    label: `${host} ${pci}`,
    detail: [symptoms.join(" "), model, rack && `rack ${rack}`].filter(Boolean).join(" · "),
    href: at("rnics", host, pci),
  }));
  const hosts = found.hosts.map(({ host, rack, rnics: count, zone, instance_type: type }): Destination => ({
    kind: "host",
    label: host,
    detail: [count === 1 ? "1 RNIC" : `${count} RNICs`, rack && `rack ${rack}`, zone, type].filter(Boolean).join(" · "),
    href: `/?host=${encodeURIComponent(host)}`,
  }));
  const pods = found.pods.map(({ pod, owner, host, pci }): Destination => ({
    kind: "pod",
    label: pod,
    detail: [pci === null ? `on ${host}` : `on ${host} ${pci}`, owner].filter(Boolean).join(" · "),
    href:
      pci === null
        ? `/?host=${encodeURIComponent(host)}`
        : `${at("rnics", host, pci)}?vfText=${encodeURIComponent(pod)}`,
  }));
  return [
    { label: "RNICs", entries: rnics },
    { label: "Hosts", entries: hosts },
    { label: "Pods", entries: pods },
  ];
}

export function incidentsOf(incidents: readonly IncidentSummary[] | undefined): Group[] {
  const entries = (incidents ?? []).map(({ id, title, subject, state }): Destination => ({
    kind: "incident",
    label: title,
    detail: `${subject} · ${state}`,
    href: at("incidents", id),
  }));
  return [{ label: "Incidents", entries }];
}

export const RECENT_KEY = "wallwatch-recent";
const MOST_RECENT = 6;

/** The destinations that were chosen last, the newest first, each once. */
export function withRecent(recent: readonly Destination[], chosen: Destination): Destination[] {
  return [chosen, ...recent.filter(({ href }) => href !== chosen.href)].slice(0, MOST_RECENT);
}

/** What the palette lists: before anything is typed the recent ones and the pages, then all that matches. */
export function groupsOf(
  text: string,
  { recent, actions, found }: { recent: readonly Destination[]; actions: readonly Action[]; found: readonly Group[] },
): Group[] {
  const groups =
    text.trim() === ""
      ? [
          { label: "Recent", entries: recent },
          { label: "Pages", entries: PAGES.slice(0, PLACES.length) },
          { label: "Actions", entries: actions },
        ]
      : [
          { label: "Pages", entries: PAGES.filter((entry) => matches(entry, text)) },
          { label: "Actions", entries: actions.filter((entry) => matches(entry, text)) },
          ...found,
        ];
  return groups.filter(({ entries }) => entries.length > 0);
}
