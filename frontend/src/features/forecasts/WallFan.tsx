import type { Forecast } from "@/lib/api/types";
import { fanOf } from "./wallFan";

const WIDTH = 150;
const HEIGHT = 34;

/** The next hour of one wall, small: the band of nine of ten cases, the likely course, the limit, and where they meet. */
export function WallFan({ wall, forecast }: { wall: Forecast["walls"][number]; forecast: Forecast }) {
  const fan = fanOf(wall, forecast, WIDTH, HEIGHT);
  if (!fan) return <>not known</>;
  return (
    <svg role="img" aria-label={fan.text} width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} style={{ display: "block", overflow: "visible" }}>
      <title>{fan.text}</title>
      <polygon points={fan.band} fill="var(--ww-accent)" opacity={0.25} />
      <polyline points={fan.likely} fill="none" stroke="var(--ww-accent)" strokeWidth={1.5} />
      <line x1={0} x2={WIDTH} y1={fan.limit} y2={fan.limit} stroke="var(--ww-bad)" strokeDasharray="4 2" />
      <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} stroke="var(--ww-line)" />
      {fan.meets && <circle cx={fan.meets.x} cy={fan.meets.y} r={3.5} fill="var(--ww-bad)" stroke="var(--ww-panel)" />}
    </svg>
  );
}
