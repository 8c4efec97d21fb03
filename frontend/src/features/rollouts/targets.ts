import type { Columns } from "@/lib/stream/columns";

/** Where a rollout goes: a host, or one RNIC of it when the action is for one RNIC. */
export interface Target {
  host: string;
  pci: string | null;
  rack: string | null;
}

/** The most targets that the server takes. */
export const MOST_TARGETS = 5000;

const collator = new Intl.Collator("en", { numeric: true });

export function placeOf(target: Pick<Target, "host" | "pci">): string {
  return target.pci === null ? target.host : `${target.host} ${target.pci}`;
}

/** What an action of this scope would reach on these rows of the fleet: each host once, or each RNIC; by name. */
export function candidates(columns: Columns, rows: readonly number[], scope: "host" | "rnic"): Target[] {
  const byPlace = new Map<string, Target>();
  for (const row of rows) {
    const target = {
      host: columns.host[row] ?? "",
      pci: scope === "host" ? null : (columns.pci[row] ?? ""),
      rack: columns.rack[row] ?? null,
    };
    byPlace.set(placeOf(target), target);
  }
  return [...byPlace.values()].sort((a, b) => collator.compare(placeOf(a), placeOf(b)));
}

/** Those that are reached, in their order: `first` goes before all others, what was left out does not go at all. */
export function chosen(all: readonly Target[], left: ReadonlySet<string>, first: string | null): Target[] {
  const kept = all.filter((target) => !left.has(placeOf(target)));
  const at = kept.findIndex((target) => placeOf(target) === first);
  const head = kept[at];
  return head ? [head, ...kept.slice(0, at), ...kept.slice(at + 1)] : kept;
}

/** The server's waves: a canary, then each wave larger than the one before by a factor (`rollouts/waves.py`). */
export function wavesOf<T>(targets: readonly T[], canary: number, growth: number): T[][] {
  const waves: T[][] = [];
  let size = canary;
  for (let at = 0; at < targets.length;) {
    const count = Math.max(1, Math.floor(size));
    waves.push(targets.slice(at, at + count));
    at += count;
    size = Math.max(size * growth, 1);
  }
  return waves;
}

/** `first host03 alone, then 3, then 9`; many waves are cut short. */
export function wavesText(waves: readonly (readonly Target[])[]): string {
  const [canary, ...others] = waves;
  if (!canary?.[0]) return "";
  const head =
    canary.length === 1
      ? `first ${placeOf(canary[0])} alone`
      : `first ${canary.length} (${placeOf(canary[0])} and others)`;
  const shown = others.slice(0, 4).map((wave) => `then ${wave.length}`);
  const rest = others.length - shown.length;
  return [head, ...shown, ...(rest > 0 ? [`then ${rest} more ${rest === 1 ? "wave" : "waves"}`] : [])].join(", ");
}

export function racksOf(targets: readonly Target[]): string[] {
  return [...new Set(targets.map((target) => target.rack).filter((rack): rack is string => rack !== null))].sort(
    collator.compare,
  );
}
