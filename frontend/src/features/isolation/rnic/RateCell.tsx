import { Text } from "@mantine/core";
import { BulletChart } from "@/charts/isolation/BulletChart";
import { bulletTop } from "@/charts/isolation/bullet";
import type { VfIsolation } from "@/lib/api/types";
import { envelopeText, rateParts, rateText } from "../text";
import classes from "./VfTable.module.css";

type Way = "tx" | "rx";

/** A limit is set on what a VF sends only. */
function models(vf: VfIsolation) {
  const envelope = { min: vf.slo?.min_mbps ?? null, max: vf.slo?.max_mbps ?? null };
  return {
    tx: { value: vf.tx_mbps, ...envelope, limit: vf.limit_mbps || null },
    rx: { value: vf.rx_mbps, ...envelope, limit: null },
  };
}

export function rateLabel(vf: VfIsolation, way: Way): string {
  const model = models(vf)[way];
  return [
    `${way === "tx" ? "Sends" : "Receives"} ${model.value === null ? "an unknown rate" : rateText(model.value)}`,
    vf.slo ? `envelope ${envelopeText(vf.slo.min_mbps, vf.slo.max_mbps)}` : "no envelope",
    model.limit !== null && `limited to ${rateText(model.limit)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** What a VF sends or receives, against its envelope. */
export function RateCell({ vf, way }: { vf: VfIsolation; way: Way }) {
  const both = models(vf);
  const model = both[way];
  const label = rateLabel(vf, way);
  const [rate, of] = model.max === null ? [rateText(model.value), ""] : rateParts(model.value, model.max);
  return (
    <div className={classes["rate"]} title={label}>
      <BulletChart model={model} top={bulletTop([both.tx, both.rx])} label={label} />
      <Text size="xs" style={{ whiteSpace: "nowrap" }}>
        <b>{rate}</b>
        <Text span size="xs" c="dimmed">
          {of}
        </Text>
      </Text>
    </div>
  );
}
