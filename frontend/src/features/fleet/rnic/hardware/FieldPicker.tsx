import { Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { MOST_FIELDS } from "../tabs";
import { type FieldChoice, MEASUREMENTS, search } from "./fields";

interface Props {
  choices: readonly FieldChoice[];
  chosen: readonly string[];
  onChosen: (fields: readonly string[]) => void;
}

/** Every counter and gauge that the registry knows, by words of its label, its name or its meaning. */
export function FieldPicker({ choices, chosen, onChosen }: Props) {
  const [text, setText] = useState("");
  const found = search(choices, text);
  const full = chosen.length >= MOST_FIELDS;
  return (
    <Panel
      title="Fields"
      aside={
        <Text size="xs" c="dimmed">
          {chosen.length} of {choices.length}
        </Text>
      }
      actions={
        chosen.length > 0 && (
          <Button size="compact-xs" variant="subtle" onClick={() => onChosen([])}>
            Clear
          </Button>
        )
      }
    >
      <Stack gap={8}>
        <TextInput
          data-focus-filter
          aria-label="Search fields"
          placeholder="drops, ecn, np_cnp_sent …  ( / )"
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {full && (
          <Text size="xs" c="dimmed">
            {plural(MOST_FIELDS, "field")} at once at most. Clear one to choose another.
          </Text>
        )}
        <div style={{ maxHeight: 520, overflow: "auto" }} role="group" aria-label="Fields" tabIndex={0}>
          {found.length === 0 && <EmptyState title="No field has these words">Try fewer or other words.</EmptyState>}
          {MEASUREMENTS.map(({ measurement, label }) => {
            const here = found.filter((each) => each.measurement === measurement);
            if (here.length === 0) return null;
            return (
              <Stack key={measurement} gap={5} mb={10} role="group" aria-label={label}>
                <Group gap={6}>
                  <Text size="xs" fw={600} c="dimmed">
                    {label}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {here.length}
                  </Text>
                </Group>
                {here.map((field) => {
                  const on = chosen.includes(field.id);
                  return (
                    <Checkbox
                      key={field.id}
                      size="xs"
                      checked={on}
                      disabled={full && !on}
                      label={field.label}
                      description={`${field.name}${field.meaning && field.meaning !== field.label ? ` · ${field.meaning}` : ""}`}
                      onChange={() => onChosen(on ? chosen.filter((each) => each !== field.id) : [...chosen, field.id])}
                    />
                  );
                })}
              </Stack>
            );
          })}
        </div>
      </Stack>
    </Panel>
  );
}
