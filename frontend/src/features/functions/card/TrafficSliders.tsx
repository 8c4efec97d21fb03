import { Slider, Stack, Text } from "@mantine/core";
import type { NfModel } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { type Planned, type Range, trainedRange } from "../scenario";

const MOST_MTBR = 1500;
const FEWEST_FLOWS = 100;
const MOST_FLOWS = 1e6;

interface Props {
  planned: Planned;
  models: readonly NfModel[];
  onChange: (planned: Planned) => void;
}

/** Traffic of one function: flows on a logarithmic scale, packet size, matches where its model has an accelerator. */
export function TrafficSliders({ planned, models, onChange }: Props) {
  const active = models
    .find((each) => each.function === planned.function)
    ?.versions.find((version) => version.state === "active");
  const flows = trainedRange(models, planned.function, "flows");
  const sizes = trainedRange(models, planned.function, "packet_bytes");
  return (
    <Stack gap={12}>
      <Labelled
        label="Flows"
        value={Math.log10(planned.flows)}
        shown={formatNumber(Math.round(planned.flows))}
        min={Math.log10(Math.min(flows?.low ?? FEWEST_FLOWS, FEWEST_FLOWS))}
        max={Math.log10(Math.max(flows?.high ?? MOST_FLOWS, MOST_FLOWS))}
        step={0.02}
        measured={flows}
        onChange={(value) => onChange({ ...planned, flows: Math.round(10 ** value) })}
      />
      <Labelled
        label="Packet size"
        value={planned.packetBytes}
        shown={`${formatNumber(planned.packetBytes)} bytes`}
        min={64}
        max={9000}
        step={2}
        measured={sizes}
        onChange={(packetBytes) => onChange({ ...planned, packetBytes })}
      />
      {active?.accelerator && (
        <Labelled
          label="Matches per MB"
          value={planned.mtbr}
          shown={formatNumber(planned.mtbr)}
          min={0}
          max={MOST_MTBR}
          step={10}
          measured={undefined}
          onChange={(mtbr) => onChange({ ...planned, mtbr })}
        />
      )}
    </Stack>
  );
}

interface LabelledProps {
  label: string;
  value: number;
  shown: string;
  min: number;
  max: number;
  step: number;
  measured: Range | undefined;
  onChange: (value: number) => void;
}

function rangeText({ low, high }: Range): string {
  return low === high
    ? `measured at ${formatNumber(low)} only`
    : `measured from ${formatNumber(low)} to ${formatNumber(high)}`;
}

function Labelled({ label, value, shown, min, max, step, measured, onChange }: LabelledProps) {
  return (
    <div>
      <Text size="sm">
        {label}: <b>{shown}</b>{" "}
        {measured && (
          <Text span size="xs" c="dimmed">
            {rangeText(measured)}
          </Text>
        )}
      </Text>
      <Slider
        thumbLabel={label}
        thumbProps={{ "aria-valuetext": shown }}
        value={value}
        min={min}
        max={max}
        step={step}
        onChange={onChange}
        label={null}
      />
    </div>
  );
}
