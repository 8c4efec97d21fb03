import type { PlannedChain, PlannedMask } from "@/lib/api/types";

/** One mask of a chain before and after: where it stood, where it will, and what became of it. */
export interface MaskChange {
  kind: "hyper" | "ahead" | "back" | "stays" | "removed";
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
    const kind = was === null ? "hyper" : mask.position < was ? "ahead" : mask.position > was ? "back" : "stays";
    return { kind, mask, before: was, after: mask.position };
  });
  const present = new Set(after.map(([name]) => name));
  for (const [name, mask] of before) if (!present.has(name)) changes.push({ kind: "removed", mask, before: mask.position, after: null });
  return changes;
}

export const KINDS: Readonly<Record<MaskChange["kind"], { sign: string; label: string }>> = {
  hyper: { sign: "+", label: "added" },
  ahead: { sign: "▲", label: "ahead" },
  back: { sign: "▼", label: "back" },
  stays: { sign: "=", label: "stays" },
  removed: { sign: "−", label: "removed" },
};

/** `1 added, 6 ahead, 2 removed`; nothing when all stays. */
export function diffText(changes: readonly MaskChange[]): string {
  const count = (kind: MaskChange["kind"]) => changes.filter((change) => change.kind === kind).length;
  const parts = (["hyper", "ahead", "back", "removed"] as const).filter((kind) => count(kind) > 0).map((kind) => `${count(kind)} ${KINDS[kind].label}`);
  return parts.length === 0 ? "nothing changes" : parts.join(", ");
}
