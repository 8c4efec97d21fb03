import type { Pickable, PickAt } from "../usePick";
import type { Interval, SeriesModel } from "./model";
import { PLOT_TOP } from "./toOption";

/** A band of a few pixels is hit by a pointer that comes this close to it. */
const REACH_PX = 8;
/** And one that is shorter than this part of the chart from as far away. */
const REACH_SHARE = 0.006;

/** What can be opened of the intervals of a chart: by a click on the band at its top, and each target once by its menu. */
export function picksOf(
  { intervals, fromMs, toMs }: Pick<SeriesModel, "intervals" | "fromMs" | "toMs">,
  onOpen: (target: string) => void,
): { pickAt: PickAt; pickable: Pickable[] } {
  const shown = intervals.filter(
    (each): each is Interval & { target: string } =>
      each.target !== undefined && each.fromMs < toMs && (each.toMs ?? toMs) > fromMs,
  );
  const toPick = ({ symptom, target }: { symptom: string; target: string }): Pickable => ({
    label: `Open the incident of ${symptom}`,
    onPick: () => onOpen(target),
  });
  const reach = (toMs - fromMs) * REACH_SHARE;
  const pickAt: PickAt = (ms, y) => {
    if (Math.abs(y - PLOT_TOP) > REACH_PX) return null;
    // The last one is painted over the others.
    const found = shown.findLast((each) => ms >= each.fromMs - reach && ms <= (each.toMs ?? toMs) + reach);
    return found ? toPick(found) : null;
  };
  const bySymptom = new Map(shown.map((each) => [each.symptom, each]));
  return { pickAt, pickable: [...bySymptom.values()].map(toPick) };
}
