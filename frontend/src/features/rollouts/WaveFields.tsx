import { Checkbox, Group, NumberInput, TextInput } from "@mantine/core";
import { fromField } from "@/lib/time/fields";
import { useZone } from "@/lib/time/ZoneContext";

/** How a rollout goes on, as its fields stand. */
export interface Pace {
  canary: number;
  growth: number;
  undoOnStop: boolean;
  /** Of `datetime-local` fields, in the reader's zone; empty for none. */
  notBefore: string;
  notAfter: string;
  reason: string;
}

/** The server's own defaults, except that a failed rollout rolls back unless the operator opts out. */
export const DEFAULT_PACE: Pace = { canary: 1, growth: 3, undoOnStop: true, notBefore: "", notAfter: "", reason: "" };

/** What is wrong with the window, in words; null when nothing is. */
export function windowProblem(
  pace: Pick<Pace, "notBefore" | "notAfter">,
  zone: "local" | "utc",
  now: number,
): string | null {
  const from = pace.notBefore === "" ? null : fromField(pace.notBefore, zone);
  const to = pace.notAfter === "" ? null : fromField(pace.notAfter, zone);
  if (pace.notBefore !== "" && from === null) return "Invalid start time";
  if (pace.notAfter !== "" && to === null) return "Invalid end time";
  if (to !== null && to <= Math.max(from ?? 0, now)) return "End must be after start and in the future";
  return null;
}

export function WaveFields({
  pace,
  problem,
  onChange,
}: {
  pace: Pace;
  problem: string | null;
  onChange: (pace: Pace) => void;
}) {
  const { zone } = useZone();
  const name = zone === "utc" ? "UTC" : "local time";
  const set = (changes: Partial<Pace>) => onChange({ ...pace, ...changes });
  return (
    <>
      <Group gap={10} grow align="flex-start">
        <NumberInput
          label="Canary"
          description="Targets of the first wave"
          min={1}
          max={100}
          allowDecimal={false}
          clampBehavior="blur"
          value={pace.canary}
          onChange={(value) => set({ canary: Number(value) || 1 })}
        />
        <NumberInput
          label="Wave growth factor"
          description="Each wave is this many times larger"
          min={1}
          max={100}
          clampBehavior="blur"
          value={pace.growth}
          onChange={(value) => set({ growth: Number(value) || 1 })}
        />
      </Group>
      <Group gap={10} grow align="flex-start">
        <TextInput
          type="datetime-local"
          label={`Not before (${name})`}
          description="Empty: immediately"
          value={pace.notBefore}
          onChange={(event) => set({ notBefore: event.currentTarget.value })}
        />
        <TextInput
          type="datetime-local"
          label={`No new wave after (${name})`}
          description="Empty: no end"
          error={problem}
          value={pace.notAfter}
          onChange={(event) => set({ notAfter: event.currentTarget.value })}
        />
      </Group>
      <Checkbox
        label="Roll back automatically on failure"
        checked={pace.undoOnStop}
        onChange={(event) => set({ undoOnStop: event.currentTarget.checked })}
      />
      <TextInput
        label="Reason"
        description="Recorded with the rollout, its remedies and the audit log"
        required
        value={pace.reason}
        onChange={(event) => set({ reason: event.currentTarget.value })}
      />
    </>
  );
}
