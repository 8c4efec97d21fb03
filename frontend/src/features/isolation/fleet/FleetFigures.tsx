import type { FleetIsolation } from "@/lib/api/types";
import { formatShare, plural } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { Figures } from "../Figures";
import { secondsText, tenantText } from "../text";
import { useWords } from "../useWords";

/** The mechanism with the most seconds over all RNICs that are listed. */
export function mainMechanism(rnics: FleetIsolation["rnics"]): { mechanism: string | null; share: number } | null {
  const seconds = new Map<string | null, number>();
  let total = 0;
  for (const rnic of rnics)
    for (const each of rnic.mechanisms) {
      seconds.set(each.mechanism, (seconds.get(each.mechanism) ?? 0) + each.seconds);
      total += each.seconds;
    }
  const first = [...seconds].sort((a, b) => b[1] - a[1])[0];
  return first && total > 0 ? { mechanism: first[0], share: first[1] / total } : null;
}

/** How much was broken, how widely, who suffered most and who caused most. */
export function FleetFigures({ fleet }: { fleet: FleetIsolation }) {
  const words = useWords();
  const now = useNow();
  const last = fleet.rnics.reduce((latest, { last_broken_at: at }) => Math.max(latest, at ? Date.parse(at) : 0), 0);
  const suffered = [...fleet.tenants].sort((a, b) => b.broken_s - a.broken_s)[0];
  const caused = [...fleet.tenants].sort((a, b) => b.aggressor_s - a.aggressor_s)[0];
  const main = mainMechanism(fleet.rnics);
  const broken = fleet.broken_s > 0;
  return (
    <Figures
      label="Summary"
      figures={[
        {
          label: "Broken seconds",
          value: secondsText(fleet.broken_s),
          tone: broken ? "bad" : undefined,
          note: broken
            ? `on ${plural(fleet.rnics_total, "RNIC")}${last > 0 ? `, last ${formatAgo(last, now)}` : ""}`
            : "every promise with evidence was kept",
        },
        {
          label: "Main mechanism",
          value: main ? words.mechanism(main.mechanism).label : "–",
          note: main ? `${formatShare(main.share)} of broken seconds` : "nothing was overloaded",
        },
        {
          label: "Suffered most",
          value: suffered && suffered.broken_s > 0 ? tenantText(suffered.tenant) : "–",
          note: suffered && suffered.broken_s > 0 ? `${secondsText(suffered.broken_s)} of its VFs` : "no tenant",
        },
        {
          label: "Caused most",
          value: caused && caused.aggressor_s > 0 ? tenantText(caused.tenant) : "–",
          note: caused && caused.aggressor_s > 0 ? `${secondsText(caused.aggressor_s)} of its VFs` : "no tenant",
        },
        {
          label: "Unknown",
          value: secondsText(fleet.unknown_s),
          note: "VF time without evidence, not counted as kept",
        },
      ]}
    />
  );
}
