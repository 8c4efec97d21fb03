import { Button, Group, MultiSelect, NumberInput, Select, Text } from "@mantine/core";
import type { Matcher, Webhook } from "@/lib/api/types";
import { MatcherRows } from "@/shared/matchers/MatcherRows";
import { NAMES } from "@/shared/matchers/matchers";
import { repeatChoices, toRepeat } from "./routing";

export interface RouteValues {
  matchers: Matcher[];
  group_by: Webhook["group_by"];
  group_wait_s: number;
  group_interval_s: number;
  repeat_interval_s: number | null;
}

/** What Alertmanager waits; they are filled in when the first label is chosen, and taken out with the last. */
const WAIT_S = 30;
const INTERVAL_S = 300;

function seconds(value: string | number): number {
  return typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.round(value)) : 0;
}

/** Which incidents are sent, together with which others, and how often. */
export function RouteFields({ values, onChange }: { values: RouteValues; onChange: (values: RouteValues) => void }) {
  const group = (names: string[]) => {
    const group_by = names as Webhook["group_by"];
    const begins = values.group_by.length === 0 && group_by.length > 0;
    const ends = values.group_by.length > 0 && group_by.length === 0;
    onChange({
      ...values,
      group_by,
      ...(begins && { group_wait_s: WAIT_S, group_interval_s: INTERVAL_S }),
      ...(ends && { group_wait_s: 0, group_interval_s: 0 }),
    });
  };
  return (
    <>
      <div>
        <MatcherRows
          labels={NAMES}
          matchers={values.matchers}
          onChange={(matchers) => onChange({ ...values, matchers })}
        />
        {values.matchers.length === 0 ? (
          <Text size="xs" c="dimmed">
            No conditions: every incident is sent.
          </Text>
        ) : (
          <Button variant="subtle" onClick={() => onChange({ ...values, matchers: [] })}>
            Send every incident
          </Button>
        )}
      </div>
      <MultiSelect
        label="Group incidents by"
        description={
          values.group_by.length === 0 ? "Nothing selected: each incident is sent on its own" : "One request per group"
        }
        data={NAMES.map(({ value, label }) => ({ value, label }))}
        value={values.group_by}
        onChange={group}
        clearable
        clearButtonProps={{ "aria-label": "Clear grouping" }}
      />
      <Group gap={10} grow align="flex-start">
        <NumberInput
          label="Group wait"
          description="Before the first notification"
          suffix=" s"
          min={0}
          max={86_400}
          value={values.group_wait_s}
          onChange={(value) => onChange({ ...values, group_wait_s: seconds(value) })}
        />
        <NumberInput
          label="Group interval"
          description="Between updates of a group"
          suffix=" s"
          min={0}
          max={604_800}
          value={values.group_interval_s}
          onChange={(value) => onChange({ ...values, group_interval_s: seconds(value) })}
        />
        <Select
          label="Repeat"
          description="While unresolved"
          allowDeselect={false}
          data={repeatChoices(values.repeat_interval_s)}
          value={values.repeat_interval_s === null ? "never" : String(values.repeat_interval_s)}
          onChange={(value) => onChange({ ...values, repeat_interval_s: toRepeat(value) })}
        />
      </Group>
    </>
  );
}
