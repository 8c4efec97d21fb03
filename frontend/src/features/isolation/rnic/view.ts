import type { SortingState } from "@tanstack/react-table";
import type { VfIsolation } from "@/lib/api/types";
import type { StripRange } from "../queries";

export const STRIPS = {
  "5m": { seconds: 300, stepS: 1 },
  "6h": { seconds: 21_600, stepS: 60 },
} as const satisfies Readonly<Record<string, StripRange>>;
export type StripName = keyof typeof STRIPS;

export const SHOWN = ["affected", "promised"] as const;
export type Shown = (typeof SHOWN)[number];

const SORTS = ["vf", "holder", "slo", "tx", "rx", "delay", "broken", "caused", "state"];

/** What the page of an RNIC's VFs shows, as it stands in the URL. */
export interface VfsView {
  strip?: "6h";
  q?: string;
  show?: Shown;
  /** A column's id, with a minus before it for the largest first. */
  sort?: string;
}

export function parseVfsView(search: Record<string, unknown>): VfsView {
  const { strip, q, show, sort } = search;
  const view: VfsView = {};
  if (strip === "6h") view.strip = strip;
  if (typeof q === "string" && q.trim()) view.q = q.trim();
  const shown = SHOWN.find((each) => each === show);
  if (shown) view.show = shown;
  if (typeof sort === "string" && SORTS.includes(sort.replace(/^-/, ""))) view.sort = sort;
  return view;
}

export function toSorting({ sort }: VfsView): SortingState {
  return sort ? [{ id: sort.replace(/^-/, ""), desc: sort.startsWith("-") }] : [];
}

export function fromSorting(sorting: SortingState): string | undefined {
  const first = sorting[0];
  return first && `${first.desc ? "-" : ""}${first.id}`;
}

/** It suffers or makes others suffer, now or earlier today. */
export function isAffected(vf: Pick<VfIsolation, "role" | "broken_s_today" | "aggressor_s_today">): boolean {
  return vf.role !== null || vf.broken_s_today > 0 || vf.aggressor_s_today > 0;
}

export function matchingVfs(vfs: readonly VfIsolation[], { q, show }: VfsView): VfIsolation[] {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return vfs.filter((vf) => {
    if (show === "affected" && !isAffected(vf)) return false;
    if (show === "promised" && vf.slo === null) return false;
    const text = [`vf${vf.vf}`, String(vf.vf), vf.pod, vf.tenant, vf.slo?.name].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The worse a VF fares or behaves, the higher. */
export function severity({ state, role }: Pick<VfIsolation, "state" | "role">): number {
  if (state === "broken") return 4;
  if (role !== null) return 3;
  return state === "unknown" ? 2 : state === "kept" ? 1 : 0;
}
