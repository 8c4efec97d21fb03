import classes from "./BulletChart.module.css";
import { type BulletModel, bulletShape } from "./bullet";

interface Props {
  model: BulletModel;
  /** What the full width stands for, in the unit of the values. */
  top: number;
  /** What the picture says, for those who can't see it. */
  label: string;
}

/** A rate as a bar over what was promised: solid what is always granted, faint what is granted at most; a tick is a limit. */
export function BulletChart({ model, top, label }: Props) {
  const { value, min, max, limit, beyond } = bulletShape(model, top);
  return (
    <div className={classes["track"]} role="img" aria-label={label}>
      {max !== null && <div className={classes["allowed"]} style={{ width: `${max}%` }} />}
      {min !== null && <div className={classes["granted"]} style={{ width: `${min}%` }} />}
      {value !== null && (
        <div className={classes["value"]} data-beyond={beyond || undefined} style={{ width: `${value}%` }} />
      )}
      {limit !== null && <div className={classes["limit"]} style={{ left: `${limit}%` }} />}
    </div>
  );
}
