import type { ReactNode } from "react";
import classes from "./Figures.module.css";

export interface Figure {
  label: string;
  value: string;
  note?: ReactNode;
  tone?: "bad" | "warn";
}

/** The few numbers that a page is about, in a row. */
export function Figures({ label, figures }: { label: string; figures: readonly Figure[] }) {
  return (
    <dl className={classes["figures"]} aria-label={label}>
      {figures.map((figure) => (
        <div key={figure.label} className={classes["figure"]}>
          <dt className={classes["label"]}>{figure.label}</dt>
          <dd className={classes["value"]} data-tone={figure.tone}>
            {figure.value}
          </dd>
          {figure.note !== undefined && <dd className={classes["note"]}>{figure.note}</dd>}
        </div>
      ))}
    </dl>
  );
}
