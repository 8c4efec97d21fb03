import { Button, Group, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { fromField, toField } from "@/lib/time/fields";
import {
  asFixed,
  DEFAULT_RANGE,
  fixedRange,
  isFixed,
  type RangeName,
  RANGES,
  rangeText,
  type RangeSearch,
} from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";

interface Props {
  range: RangeSearch;
  onRange: (range: RangeSearch) => void;
}

/** Ranges up to now next to two fixed times. */
export function RangeChoices({ range, onRange }: Props) {
  const { zone } = useTimeFormat();
  const [now] = useState(() => Date.now());
  const shown = asFixed(range, now);
  const [from, setFrom] = useState(toField(Date.parse(shown.from ?? ""), zone, true));
  const [to, setTo] = useState(toField(Date.parse(shown.to ?? ""), zone, true));
  const [fromMs, toMs] = [fromField(from, zone), fromField(to, zone)];
  const wrong =
    fromMs === null || toMs === null
      ? "Enter both times"
      : fromMs >= toMs
        ? "Must be after the beginning"
        : fromMs >= now
          ? "Must begin in the past"
          : null;
  return (
    <Group align="flex-start" gap={20} wrap="nowrap">
      <Radio.Group
        label="Up to now"
        value={isFixed(range) ? null : (range.range ?? DEFAULT_RANGE)}
        onChange={(value) => onRange({ range: value as RangeName })}
      >
        <Stack gap={7} mt={6}>
          {(Object.keys(RANGES) as RangeName[]).map((name) => (
            <Radio key={name} size="xs" value={name} label={rangeText(name)} />
          ))}
        </Stack>
      </Radio.Group>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong === null && fromMs !== null && toMs !== null) onRange(fixedRange(fromMs, toMs, Date.now()));
        }}
      >
        <Stack gap={7}>
          <TextInput
            type="datetime-local"
            step={1}
            label="From"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            type="datetime-local"
            step={1}
            label="To"
            value={to}
            error={wrong}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          <Text size="xs" c="dimmed">
            {zone === "utc" ? "UTC" : "Your local time"}. Or drag over a chart.
          </Text>
          <Button type="submit" disabled={wrong !== null}>
            Show these times
          </Button>
        </Stack>
      </form>
    </Group>
  );
}
