/** An RNIC, or a question, on a surface. */
export interface SurfacePoint {
  label: string;
  qL: number;
  qR: number;
  /** More lines for the tooltip. */
  note?: string;
}

/** A quantity over (Q_l, Q_r), with what stands on it. */
export interface SurfaceModel {
  quantity: "bandwidth" | "latency";
  qL: readonly number[];
  qR: readonly number[];
  /** A row for each Q_r, a column for each Q_l. */
  values: readonly (readonly number[])[];
  points: readonly SurfacePoint[];
  /** The way of one RNIC, the oldest first. */
  path: readonly SurfacePoint[];
  /** Where the sliders stand. */
  asked?: SurfacePoint;
}

export const UNIT = { bandwidth: "Gbit/s", latency: "µs" } as const;
