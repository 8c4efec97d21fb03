import "@/lib/ui/mantineMore.css";
import { Text } from "@mantine/core";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { Remedy } from "@/lib/api/types";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { toEffectModel } from "../effectModel";
import { useRemedyEffect } from "../queries";

/** The signal before and after the remedy, with the moment of applying marked. */
export function EffectChart({ remedy }: { remedy: Remedy }) {
  const { zone } = useTimeFormat();
  const series = useRemedyEffect(remedy);
  const model = useMemo(
    () =>
      series.data &&
      toEffectModel(series.data, {
        axis: (ms) => formatTime(ms, zone).slice(11, 19).replace(/:00$/, ""),
        tooltip: (ms) => formatTime(ms, zone),
      }),
    [series.data, zone],
  );
  if (!model) return null;
  return (
    <section aria-label="Before and after">
      <Text size="xs" c="dimmed">
        {series.data?.label} before and after; the line marks the moment of applying
      </Text>
      <SeriesChart model={model} title={series.data?.label ?? ""} height={150} />
    </section>
  );
}
