import { Button, Group, NumberInput, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { LabDevice } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useMayRun } from "./access";
import { countText } from "./labText";
import { ParameterPicker } from "./ParameterPicker";
import { useStartCampaign } from "./queries";
import type { NewCampaignSearch } from "./search";
import { type Draft, initialDraft, problemsOf, requestOf, STRATEGIES, variedFor } from "./startForm";

interface Props {
  devices: readonly LabDevice[];
  search: NewCampaignSearch;
  onStarted: (id: string) => void;
}

function targetsOf(device: LabDevice | undefined) {
  if (!device) return [];
  const groups = [
    { group: "Symptoms", items: device.symptoms },
    { group: "Metrics", items: device.metrics.map(({ name }) => name) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

/** Device, target, budget and time; seed, strategy and parameters are further down, with values that need no change. */
export function StartForm({ devices, search, onStarted }: Props) {
  const start = useStartCampaign();
  const mayRun = useMayRun();
  const [draft, setDraft] = useState<Draft>(() => initialDraft(devices, search));
  const [tried, setTried] = useState(false);
  const [advanced, setAdvanced] = useState(search.cause !== undefined);
  const device = devices.find(({ name }) => name === draft.device);
  const refused = mayRun(device?.run_role) === false;
  const problems = problemsOf(draft);
  const shown = tried ? problems : {};
  const change = (next: Partial<Draft>) => setDraft((was) => ({ ...was, ...next }));
  const longest = device?.seconds_per_test ? Number(draft.budget) * device.seconds_per_test : null;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(problems).length > 0 || !device) return;
        start.mutate(requestOf(draft, device, search.incident), { onSuccess: ({ id }) => onStarted(id) });
      }}
    >
      <Stack gap={14}>
        <Group grow align="flex-start">
          <Select
            label="Device"
            required
            data-autofocus
            placeholder="Choose a device"
            error={shown.device}
            value={draft.device}
            data={devices.map(({ name, available }) => ({ value: name, label: name, disabled: !available }))}
            onChange={(name) =>
              change({
                device: name,
                target: null,
                varied: variedFor(
                  devices.find((each) => each.name === name),
                  search.cause,
                ),
              })
            }
          />
          <Select
            label="Look for"
            clearable
            placeholder="Whatever goes wrong"
            value={draft.target}
            data={targetsOf(device)}
            disabled={!device}
            onChange={(target) => change({ target })}
          />
        </Group>
        {device?.problem && (
          <Text size="sm" c="var(--ww-warn)" role="status">
            {device.problem}
          </Text>
        )}
        {device && refused && (
          <Text size="sm" c="var(--ww-warn)" role="status">
            Campaigns on {device.name} require the role {device.run_role}.
          </Text>
        )}
        {device?.needs_approval && !refused && (
          <Text size="sm" role="status">
            {device.name} is an RNIC of the fleet: cordon it first. Another person must approve the campaign before it
            starts.
          </Text>
        )}
        <Group grow align="flex-start">
          <NumberInput
            label="Most tests"
            description="Resets count as tests"
            required
            thousandSeparator=","
            allowDecimal={false}
            value={draft.budget}
            error={shown.budget}
            onChange={(budget) => change({ budget })}
          />
          <NumberInput
            label="Longest time"
            description={
              longest === null || Number.isNaN(longest)
                ? "The search usually ends earlier"
                : `All tests would take about ${formatDuration(longest * 1000)}`
            }
            required
            suffix=" min"
            allowDecimal={false}
            value={draft.minutes}
            error={shown.minutes}
            onChange={(minutes) => change({ minutes })}
          />
        </Group>
        <Button
          variant="default"
          size="compact-sm"
          style={{ alignSelf: "flex-start" }}
          aria-expanded={advanced}
          onClick={() => setAdvanced((was) => !was)}
        >
          {advanced ? "Hide advanced options" : "Advanced: parameters, strategy, seed"}
        </Button>
        {advanced && (
          <Stack gap={14}>
            <Group grow align="flex-start">
              <Select
                label="Strategy"
                allowDeselect={false}
                data={[...STRATEGIES]}
                value={draft.strategy}
                onChange={(value) => {
                  const strategy = STRATEGIES.find((each) => each.value === value)?.value;
                  if (strategy) change({ strategy });
                }}
              />
              <NumberInput
                label="Seed"
                description="The same seed tests in the same order"
                allowDecimal={false}
                value={draft.seed}
                error={shown.seed}
                onChange={(seed) => change({ seed })}
              />
            </Group>
            {device && (
              <ParameterPicker
                device={device}
                varied={draft.varied}
                error={shown.varied}
                onChange={(varied) => change({ varied })}
              />
            )}
          </Stack>
        )}
        {start.error !== null && <ProblemNotice error={start.error} />}
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {device &&
              (draft.varied.size === device.parameters.length
                ? `All ${plural(draft.varied.size, "parameter")} vary; brute force over them would take ${countText(device.brute_force_tests)} tests.`
                : `${draft.varied.size} of ${plural(device.parameters.length, "parameter")} varied; the others keep their defaults.`)}
          </Text>
          <Button
            type="submit"
            loading={start.isPending}
            disabled={device !== undefined && (!device.available || refused)}
          >
            {device?.needs_approval ? "Request approval" : "Start"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
