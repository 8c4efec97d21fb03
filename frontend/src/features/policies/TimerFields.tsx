import { Group, NumberInput, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import type { PolicyTimer } from "@/lib/api/types";

interface Props {
  timer: PolicyTimer | null;
  /** Propositions that events set. */
  names: readonly string[];
  onChange: (timer: PolicyTimer | null) => void;
}

/** A time-out as an event of its own: it bounds what would otherwise be waited for without an end. */
export function TimerFields({ timer, names, onChange }: Props) {
  const choices = [...new Set([...names, ...(timer ? [timer.after, ...(timer.unless ? [timer.unless] : [])] : [])])].filter(Boolean);
  return (
    <Stack gap={6} role="group" aria-label="Time-out">
      <Switch label="A time-out: a proposition that holds so long after another" checked={timer !== null} onChange={(event) => onChange(event.currentTarget.checked ? { name: "LATE", after: names[0] ?? "", unless: null, seconds: 60 } : null)} />
      {timer && (
        <Group gap={8} align="flex-end">
          <TextInput label="Name" w={110} value={timer.name} error={/^[A-Za-z_][A-Za-z0-9_]*$/.test(timer.name) ? undefined : "letters, digits, _"} onChange={(event) => onChange({ ...timer, name: event.currentTarget.value })} />
          <Text size="sm" pb={6}>
            holds
          </Text>
          <NumberInput label="Seconds" w={90} min={0.001} max={86_400} value={timer.seconds} onChange={(value) => onChange({ ...timer, seconds: typeof value === "number" && value > 0 ? value : timer.seconds })} />
          <Select label="After" w={150} allowDeselect={false} data={choices} value={timer.after || null} onChange={(value) => onChange({ ...timer, after: value ?? "" })} />
          <Select label="Unless before it came" w={170} clearable placeholder="nothing stops it" data={choices} value={timer.unless ?? null} onChange={(value) => onChange({ ...timer, unless: value })} />
        </Group>
      )}
    </Stack>
  );
}
