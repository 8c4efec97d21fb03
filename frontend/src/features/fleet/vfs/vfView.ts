import type { SortingState } from "@tanstack/react-table";

export const VF_USES = ["used", "free"] as const;
export type VfUse = (typeof VF_USES)[number];

export const VF_SORTS = ["vf", "pci", "holder", "address", "driver", "tx", "rx", "drops", "limit"] as const;
export type VfSort = (typeof VF_SORTS)[number];

/** What the table of virtual functions shows, as it stands in the URL. */
export interface VfView {
  vfText?: string;
  vfUse?: VfUse;
  /** A column's id, with a minus before it for the largest first. */
  vfSort?: string;
}

export function parseVfView(search: Record<string, unknown>): VfView {
  const view: VfView = {};
  const { vfText, vfUse, vfSort } = search;
  if (typeof vfText === "string" && vfText.trim()) view.vfText = vfText.trim();
  const use = VF_USES.find((known) => known === vfUse);
  if (use) view.vfUse = use;
  if (typeof vfSort === "string" && VF_SORTS.some((known) => known === vfSort.replace(/^-/, ""))) view.vfSort = vfSort;
  return view;
}

export function toSorting(view: VfView): SortingState {
  if (!view.vfSort) return [];
  return [{ id: view.vfSort.replace(/^-/, ""), desc: view.vfSort.startsWith("-") }];
}

export function fromSorting(sorting: SortingState): string | undefined {
  const first = sorting[0];
  return first && `${first.desc ? "-" : ""}${first.id}`;
}
