import type { CSSProperties } from "react";
import classes from "./cards.module.css";

/** What a table needs so that its rows become cards on phones: its class, and its columns' titles for the style sheet (up to 12). */
export function asCards(titles: readonly string[]): { className: string | undefined; style: CSSProperties } {
  const named = titles.map((title, i) => [`--title-${i + 1}`, JSON.stringify(title)]);
  return { className: classes["cards"], style: Object.fromEntries(named) as CSSProperties };
}
