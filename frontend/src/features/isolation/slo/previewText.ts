import type { SloPreview } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { rateText } from "../text";

type Refused = SloPreview["refused"][number];

/** `The minima of host03 0000:3b:00.0 add up to 112 Gbit/s; its link has 100 Gbit/s.` */
export function refusedText({ host, pci, sum_min_mbps, port_mbps }: Refused): string {
  return `The guaranteed rates on ${host} ${pci} add up to ${rateText(sum_min_mbps)}; its link has ${rateText(port_mbps)}.`;
}

/** Why rules with this preview can't be saved; null when they can. */
export function refusalOf(
  preview: (Pick<SloPreview, "refused"> & Partial<Pick<SloPreview, "refused_total">>) | undefined,
): string | null {
  const first = preview?.refused[0];
  if (!preview || !first) return null;
  const others = (preview.refused_total ?? preview.refused.length) - 1;
  return `${refusedText(first)}${others > 0 ? ` So do those of ${plural(others, "other RNIC")}.` : ""}`;
}

/** How many of the listed VFs get each class, most first. */
export function classCounts({ vfs }: Pick<SloPreview, "vfs">): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { slo } of vfs) {
    const name = slo === null ? "no SLO" : (slo.name ?? "CNI configuration");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

export function isChanged({ slo, before }: SloPreview["vfs"][number]): boolean {
  return slo?.source !== "cni" && (slo?.name ?? null) !== before;
}
