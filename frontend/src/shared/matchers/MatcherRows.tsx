import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { type Condition, type MatchedLabel, OPERATORS } from "./matchers";

interface Props<Name extends string> {
  matchers: readonly Condition<Name>[];
  onChange: (matchers: Condition<Name>[]) => void;
  title?: string;
  /** Labels that may be chosen; a new condition is about the first. */
  labels: readonly MatchedLabel<Name>[];
}

/** All rows must hold. A regular expression matches the whole value. */
export function MatcherRows<Name extends string>({
  matchers,
  onChange,
  title = "Matches incidents where",
  labels,
}: Props<Name>) {
  const first = labels[0]?.value;
  const set = (at: number, changes: Partial<Condition<Name>>) =>
    onChange(matchers.map((each, i) => (i === at ? { ...each, ...changes } : each)));
  return (
    <Stack gap={6} role="group" aria-label="Conditions">
      <Text size="sm" fw={500}>
        {title}
      </Text>
      {matchers.map((matcher, i) => (
        <Group key={i} gap={6} wrap="nowrap">
          <Text size="sm" c="dimmed" w={28}>
            {i === 0 ? "" : "and"}
          </Text>
          <Select
            aria-label={`Label ${i + 1}`}
            w={130}
            allowDeselect={false}
            data={labels.map(({ value, label }) => ({ value: value as string, label }))}
            value={matcher.name}
            onChange={(name) => set(i, { name: name as Name })}
          />
          <Select
            aria-label={`Comparison ${i + 1}`}
            w={140}
            allowDeselect={false}
            data={[...OPERATORS]}
            value={matcher.op}
            onChange={(op) => set(i, { op: op as Condition<Name>["op"] })}
          />
          <TextInput
            aria-label={`Value ${i + 1}`}
            style={{ flex: 1 }}
            value={matcher.value}
            placeholder={labels.find((each) => each.value === matcher.name)?.example}
            error={matcher.value === "" && matcher.op.endsWith("~") ? "A regular expression is required" : undefined}
            onChange={(event) => set(i, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="default"
            aria-label={`Remove condition ${i + 1}`}
            disabled={matchers.length === 1}
            onClick={() => onChange(matchers.filter((_, at) => at !== i))}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="subtle"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: "flex-start" }}
        onClick={() => first !== undefined && onChange([...matchers, { name: first, op: "=", value: "" }])}
      >
        Add condition
      </Button>
    </Stack>
  );
}
