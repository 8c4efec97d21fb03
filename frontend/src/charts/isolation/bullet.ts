/** A rate against what was promised. All values have the same unit; null where one is unknown. */
export interface BulletModel {
  value: number | null;
  /** What is always granted, and what is granted at most; both null without a promise. */
  min: number | null;
  max: number | null;
  /** A limit that is set on the sender; null when there is none. */
  limit: number | null;
}

export interface BulletShape {
  /** Widths and places in percent of the bar. */
  value: number | null;
  min: number | null;
  max: number | null;
  limit: number | null;
  /** The value is above what was promised. */
  beyond: boolean;
}

/** The end of the promise lies before the end of the bar, so that a value beyond it has room to show. */
const ROOM = 1.2;

/** What the full width of one or more bars stands for, so that those of one VF can be compared with each other. */
export function bulletTop(models: readonly BulletModel[]): number {
  let top = 0;
  for (const { value, max, limit } of models) top = Math.max(top, value ?? 0, (max ?? 0) * ROOM, limit ?? 0);
  return top > 0 ? top : 1;
}

export function bulletShape(model: BulletModel, top: number): BulletShape {
  const place = (value: number | null) => (value === null ? null : Math.min(100, Math.max(0, (value / top) * 100)));
  return {
    value: place(model.value),
    min: place(model.min),
    max: place(model.max),
    limit: place(model.limit),
    beyond: model.value !== null && model.max !== null && model.value > model.max,
  };
}
