import type { PredictedFunction } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { kpps, lostText } from "../text";
import classes from "./ThroughputBar.module.css";

/** Parts of the solo throughput in percent: what is kept, and what each resource takes. */
export function partsOf(found: PredictedFunction): { kept: number; memory: number; accelerator: number } {
  const percent = (value: number) => Math.min(100, Math.max(0, (100 * value) / found.solo_kpps));
  return {
    kept: percent(found.throughput_kpps),
    memory: percent(found.lost_memory_kpps),
    accelerator: percent(found.lost_accelerator_kpps),
  };
}

/** The solo throughput as one bar: kept, lost to memory, lost to the accelerator; a line where the SLA breaks. */
export function ThroughputBar({ found }: { found: PredictedFunction }) {
  const parts = partsOf(found);
  const measured = found.measured_kpps === null ? null : Math.min(100, (100 * found.measured_kpps) / found.solo_kpps);
  const said = `${found.name}: ${kpps(found.throughput_kpps)} of ${kpps(found.solo_kpps)}, ${lostText(found)}`;
  return (
    <div
      className={classes["track"]}
      role="img"
      aria-label={found.sla_drop === null ? said : `${said}, may lose ${formatShare(found.sla_drop)}`}
    >
      <div className={`${classes["part"]} ${classes["kept"]}`} style={{ width: `${parts.kept}%` }} />
      <div className={`${classes["part"]} ${classes["memory"]}`} style={{ width: `${parts.memory}%` }} />
      <div className={`${classes["part"]} ${classes["accelerator"]}`} style={{ width: `${parts.accelerator}%` }} />
      {found.sla_drop !== null && (
        <div className={classes["mark"]} style={{ left: `${100 * (1 - found.sla_drop)}%` }} />
      )}
      {measured !== null && <div className={classes["measured"]} style={{ left: `${measured}%` }} />}
    </div>
  );
}

export function ThroughputLegend({ measured }: { measured: boolean }) {
  return (
    <div className={classes["legend"]} aria-hidden="true">
      <span className={classes["key"]}>
        <span className={`${classes["swatch"]} ${classes["kept"]}`} /> predicted
      </span>
      <span className={classes["key"]}>
        <span className={`${classes["swatch"]} ${classes["memory"]}`} /> lost to memory
      </span>
      <span className={classes["key"]}>
        <span className={`${classes["swatch"]} ${classes["accelerator"]}`} /> lost to the accelerator
      </span>
      <span className={classes["key"]}>
        <span className={`${classes["swatch"]} ${classes["line"]}`} /> SLA breaks
      </span>
      {measured && (
        <span className={classes["key"]}>
          <span className={`${classes["swatch"]} ${classes["dot"]}`} /> measured
        </span>
      )}
    </div>
  );
}
