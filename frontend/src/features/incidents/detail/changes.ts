import type { Before } from "@/lib/api/types";
import { plural } from "@/lib/format";

type Change = Before["items"][number];

/** One line of recent changes: a single change, or containers of one RNIC that came or went one after another. */
export interface ChangeLine {
  kind: Change["kind"];
  host: string;
  pci: string;
  /** The earliest and the latest of them; the same for a single one. */
  from: string;
  to: string;
  text: string;
}

interface Place {
  host: string;
  pci: string;
}

const ID_DIGITS = 12;

/** Containers are known by the first digits of their ids, as their runtimes show them. */
export function withShortIds(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{32,64}\b/g, (id) => id.slice(0, ID_DIGITS));
}

const VERBS: Readonly<Record<string, string>> = { cni_add: "added", cni_del: "removed" };

function groupKey({ kind, host, pci, data }: Change): string | null {
  const verb = kind === "container" ? VERBS[String(data?.["kind"])] : undefined;
  return verb === undefined ? null : `${host} ${pci} ${verb}`;
}

function lineOf(changes: readonly Change[]): ChangeLine | null {
  const first = changes[0];
  const last = changes.at(-1);
  if (!first || !last) return null;
  const { kind, host, pci } = first;
  const verb = VERBS[String(first.data?.["kind"])] ?? "changed";
  const text = changes.length === 1 ? withShortIds(first.text) : `${plural(changes.length, "container")} ${verb}.`;
  return { kind, host, pci, from: first.at, to: last.at, text };
}

/** The incident's own RNIC first, then the rest, newest first; containers of one RNIC that came, or went, are one line. */
export function linesOf(items: readonly Change[], here: Place): ChangeLine[] {
  const groups = new Map<string, Change[]>();
  for (const [i, change] of items.entries()) {
    const key = groupKey(change) ?? `single ${i}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  const isHere = ({ host, pci }: Place) => host === here.host && (pci === here.pci || pci === "");
  return [...groups.values()]
    .flatMap((changes) => lineOf(changes) ?? [])
    .sort((a, b) => Number(isHere(b)) - Number(isHere(a)) || Date.parse(b.to) - Date.parse(a.to));
}
