import {
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { PolicyTimer } from "@/lib/api/types";
import { useCatalogue, useSymptomChoices } from "@/lib/api/useCatalogue";
import { type Draft, nameOf } from "./draft";

interface WordProps {
  draft: Draft;
  isNew: boolean;
  onChange: (changes: Partial<Draft>) => void;
}

export const NAME = /^[a-z][a-z0-9-]{1,63}$/;

/** The policy's name and words: what people read when it is violated. */
export function WordFields({ draft, isNew, onChange }: WordProps) {
  const symptoms = useSymptomChoices();
  const catalogue = useCatalogue();
  const titled = (title: string) =>
    onChange(isNew && draft.id === nameOf(draft.title) ? { title, id: nameOf(title) } : { title });
  return (
    <>
      <Group gap={10} grow align="flex-start">
        <TextInput
          label="Title"
          required
          maxLength={100}
          placeholder="A port that goes down comes back up"
          value={draft.title}
          onChange={(event) => titled(event.currentTarget.value)}
        />
        {isNew && (
          <TextInput
            label="Name"
            required
            maxLength={64}
            description="Lowercase letters, digits, hyphens. Cannot be changed later."
            error={draft.id && !NAME.test(draft.id) ? "Lowercase letters, digits and hyphens, at least two" : undefined}
            value={draft.id}
            onChange={(event) => onChange({ id: event.currentTarget.value })}
          />
        )}
      </Group>
      <Textarea
        label="What a violation means"
        required
        maxLength={300}
        autosize
        minRows={1}
        placeholder="The port went down and did not come up within a minute."
        value={draft.violation}
        onChange={(event) => onChange({ violation: event.currentTarget.value })}
      />
      <Group gap={10} align="flex-end">
        <div>
          <SegmentedControl
            aria-label="Severity"
            value={draft.severity}
            onChange={(severity) => onChange({ severity: severity === "critical" ? "critical" : "warning" })}
            data={["warning", "critical"]}
          />
        </div>
        <MultiSelect
          label="Indicates symptoms"
          w={260}
          value={draft.symptoms}
          data={symptoms.filter(({ value }) => /^S[1-8]$/.test(value))}
          onChange={(next) => onChange({ symptoms: next })}
        />
        <MultiSelect
          label="and causes"
          w={260}
          value={draft.causes}
          data={(catalogue.data?.causes ?? []).map(({ id, title }) => ({ value: id, label: `${id} ${title}` }))}
          onChange={(next) => onChange({ causes: next })}
        />
      </Group>
      {!isNew && (
        <TextInput
          label="Reason for the change"
          maxLength={200}
          placeholder="Stored with the version"
          value={draft.message}
          onChange={(event) => onChange({ message: event.currentTarget.value })}
        />
      )}
    </>
  );
}

interface TimerProps {
  timer: PolicyTimer | null;
  /** Propositions that events set. */
  names: readonly string[];
  onChange: (timer: PolicyTimer | null) => void;
}

/** A time-out as an event of its own: it bounds what would otherwise be waited for without an end. */
export function TimerFields({ timer, names, onChange }: TimerProps) {
  const choices = [
    ...new Set([...names, ...(timer ? [timer.after, ...(timer.unless ? [timer.unless] : [])] : [])]),
  ].filter(Boolean);
  return (
    <Stack gap={6} role="group" aria-label="Timeout">
      <Switch
        label="Timeout: true N seconds after another proposition"
        checked={timer !== null}
        onChange={(event) =>
          onChange(
            event.currentTarget.checked ? { name: "LATE", after: names[0] ?? "", unless: null, seconds: 60 } : null,
          )
        }
      />
      {timer && (
        <Group gap={8} align="flex-end">
          <TextInput
            label="Name"
            w={110}
            value={timer.name}
            error={/^[A-Za-z_][A-Za-z0-9_]*$/.test(timer.name) ? undefined : "letters, digits, _"}
            onChange={(event) => onChange({ ...timer, name: event.currentTarget.value })}
          />
          <Text size="sm" pb={6}>
            holds
          </Text>
          <NumberInput
            label="Seconds"
            w={90}
            min={0.001}
            max={86_400}
            value={timer.seconds}
            onChange={(value) =>
              onChange({ ...timer, seconds: typeof value === "number" && value > 0 ? value : timer.seconds })
            }
          />
          <Select
            label="After"
            w={150}
            allowDeselect={false}
            data={choices}
            value={timer.after || null}
            onChange={(value) => onChange({ ...timer, after: value ?? "" })}
          />
          <Select
            label="Cancelled by"
            w={170}
            clearable
            placeholder="nothing"
            data={choices}
            value={timer.unless ?? null}
            onChange={(value) => onChange({ ...timer, unless: value })}
          />
        </Group>
      )}
    </Stack>
  );
}
