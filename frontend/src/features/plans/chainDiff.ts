import type { PlannedChain, PlannedMask } from "@/lib/api/types";

/** One mask of a chain before and after: where it stood, where it will, and what became of it. */
export interface MaskChange {
  kind: "hyper" | "up" | "down" | "same" | "removed";
  mask: PlannedMask;
  /** From 0, the head; null where it is not in that chain. */
  before: number | null;
  after: number | null;
}

/** The same mask may stand in several tables, so its place among its likes is part of its name. */
function named(masks: readonly PlannedMask[]): [string, PlannedMask][] {
  const seen = new Map<string, number>();
  return masks.map((mask) => {
    const nth = seen.get(mask.mask) ?? 0;
    seen.set(mask.mask, nth + 1);
    return [`${mask.mask}#${nth}`, mask];
  });
}

/** The chain that comes, in its order, then what leaves it. */
export function chainDiff(chain: PlannedChain): MaskChange[] {
  const before = new Map(named(chain.before));
  const after = named(chain.after);
  const changes: MaskChange[] = after.map(([name, mask]) => {
    const was = before.get(name)?.position ?? null;
    const kind = was === null ? "hyper" : mask.position < was ? "up" : mask.position > was ? "down" : "same";
    return { kind, mask, before: was, after: mask.position };
  });
  const present = new Set(after.map(([name]) => name));
  for (const [name, mask] of before)
    if (!present.has(name)) changes.push({ kind: "removed", mask, before: mask.position, after: null });
  return changes;
}

export const KINDS: Readonly<Record<MaskChange["kind"], { sign: string; label: string }>> = {
  hyper: { sign: "+", label: "added" },
  up: { sign: "▲", label: "moved up" },
  down: { sign: "▼", label: "moved down" },
  same: { sign: "=", label: "unchanged" },
  removed: { sign: "−", label: "removed" },
};

/** `1 added, 6 moved up, 2 removed`. */
export function diffText(changes: readonly MaskChange[]): string {
  const count = (kind: MaskChange["kind"]) => changes.filter((change) => change.kind === kind).length;
  const parts = (["hyper", "up", "down", "removed"] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${count(kind)} ${KINDS[kind].label}`);
  return parts.length === 0 ? "no changes" : parts.join(", ");
}
