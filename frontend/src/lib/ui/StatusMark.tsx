import { Group, Text } from "@mantine/core";

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

/** A state in a word, with a shape and a colour that say the same. */
export function StatusMark({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Group gap={5} wrap="nowrap" component="span" display="inline-flex">
      <span aria-hidden="true" style={{ color: COLORS[tone], fontSize: "0.7rem", lineHeight: 1 }}>
        {SHAPES[tone]}
      </span>
      <Text span size="sm" style={{ whiteSpace: children.length > LONG ? "normal" : "nowrap" }}>
        {children}
      </Text>
    </Group>
  );
}
