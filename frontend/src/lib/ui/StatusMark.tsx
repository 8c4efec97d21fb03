import classes from "./StatusMark.module.css";

export type Tone = "good" | "warn" | "bad" | "waiting" | "quiet";

const SHAPES: Record<Tone, string> = { good: "●", warn: "▲", bad: "◆", waiting: "◐", quiet: "○" };
const COLORS: Record<Tone, string> = {
  good: "var(--ww-good)",
  warn: "var(--ww-warn)",
  bad: "var(--ww-bad)",
  waiting: "var(--ww-accent)",
  quiet: "var(--ww-dim)",
};

/** More characters than these are a sentence, which may be broken. */
const LONG = 30;

/** A state in a word, with a shape and a colour that say the same. Plain elements: long lists have several in each row. */
export function StatusMark({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes["mark"]}>
      <span aria-hidden="true" className={classes["shape"]} style={{ color: COLORS[tone] }}>
        {SHAPES[tone]}
      </span>
      <span className={children.length > LONG ? classes["long"] : undefined}>{children}</span>
    </span>
  );
}
