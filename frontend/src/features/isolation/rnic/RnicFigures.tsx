import type { RnicIsolation } from "@/lib/api/types";
import { formatShare, plural } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { Figures } from "../Figures";
import { rateText, secondsText } from "../text";
import { useWords } from "../useWords";

/** What is wrong on the RNIC now, and how it was today. */
export function RnicFigures({ rnic }: { rnic: RnicIsolation }) {
  const words = useWords();
  const now = useNow();
  const victims = rnic.vfs.filter((vf) => vf.state === "broken").length;
  const aggressors = rnic.vfs.filter((vf) => vf.role === "aggressor").length;
  const promised = rnic.vfs.filter((vf) => vf.slo !== null);
  const minima = promised.reduce((sum, vf) => sum + (vf.slo?.min_mbps ?? 0), 0);
  const oversold = rnic.port_mbps !== null && minima > rnic.port_mbps;
  const mechanism = words.mechanism(rnic.mechanism);
  return (
    <Figures
      label="Now"
      figures={[
        {
          label: "Promises broken now",
          value: victims === 0 ? "none" : plural(victims, "VF"),
          tone: victims > 0 ? "bad" : undefined,
          note:
            victims === 0
              ? "every VF with evidence gets what it was promised"
              : `by ${aggressors > 0 ? plural(aggressors, "aggressor") : "an undetermined VF"}`,
        },
        {
          label: "Mechanism",
          value: victims > 0 || rnic.mechanism !== null ? mechanism.label : "–",
          note: victims > 0 || rnic.mechanism !== null ? mechanism.meaning : "nothing is overloaded",
        },
        {
          label: "Load",
          value: formatShare(rnic.load),
          tone: rnic.load !== null && rnic.load > 1 ? "warn" : undefined,
          note: "offered, of what the RNIC can carry",
        },
        {
          label: "Guaranteed to VFs",
          value: rateText(minima),
          tone: oversold ? "warn" : undefined,
          note: `${plural(promised.length, "VF")} with an SLO; the port has ${rnic.port_mbps === null ? "an unknown rate" : rateText(rnic.port_mbps)}`,
        },
        {
          label: "Broken today",
          value: rnic.broken_s_today > 0 ? secondsText(rnic.broken_s_today) : "none",
          note: "seconds since midnight UTC in which a VF suffered",
        },
        {
          label: "Last verdict",
          value: rnic.at === null ? "never" : formatAgo(rnic.at, now),
          tone: rnic.stale ? "warn" : undefined,
          note: rnic.doubt === null ? "nothing is in doubt: sampled every 10 s" : `sampled every second: ${rnic.doubt}`,
        },
      ]}
    />
  );
}
