import { Text, Tooltip } from "@mantine/core";
import type { VfIsolation } from "@/lib/api/types";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { useWords } from "./useWords";

/** The one place that gives a VF's state its shape and colour; the words are the catalogue's. */
const STATE_TONES: Readonly<Record<VfIsolation["state"], Tone>> = {
  kept: "good",
  broken: "bad",
  unknown: "waiting",
  "not promised": "quiet",
};

const ROLE_COLORS: Readonly<Record<NonNullable<VfIsolation["role"]>, string>> = {
  victim: "var(--ww-bad)",
  aggressor: "var(--ww-warn)",
  beyond: "var(--ww-warn)",
};

/** Whether the promise to a VF is kept now, and its part in what happens. */
export function VfStateMark({ vf }: { vf: Pick<VfIsolation, "state" | "role" | "reason"> }) {
  const words = useWords();
  const state = words.state(vf.state);
  return (
    <Tooltip
      label={vf.reason ?? state.meaning}
      multiline
      maw={360}
      disabled={!vf.reason && !state.meaning}
      events={{ hover: true, focus: true, touch: true }}
    >
      <div tabIndex={0} style={{ width: "fit-content" }} data-state={vf.state} data-role={vf.role ?? undefined}>
        <StatusMark tone={STATE_TONES[vf.state]}>{state.label}</StatusMark>
        {vf.role !== null && (
          <Text size="xs" fw={600} style={{ color: ROLE_COLORS[vf.role], whiteSpace: "nowrap" }}>
            {words.role(vf.role).label}
          </Text>
        )}
      </div>
    </Tooltip>
  );
}
