import { Button, Group, List, Select, Stack, Text } from "@mantine/core";
import type { CardPrediction, NfModel } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { StatusMark } from "@/lib/ui/StatusMark";
import { DEFAULT_PACKET_BYTES, type Planned, trainedRange } from "../scenario";
import { TrafficSliders } from "./TrafficSliders";

interface Props {
  candidate: Planned | null;
  models: readonly NfModel[];
  admission: CardPrediction["admission"] | undefined;
  onCandidate: (candidate: Planned | null) => void;
  onAdd: () => void;
}

/** Traffic in the middle of what was measured: where the model knows most. */
export function typical(models: readonly NfModel[], fn: string): Planned {
  const flows = trainedRange(models, fn, "flows");
  const sizes = trainedRange(models, fn, "packet_bytes");
  return {
    name: fn,
    function: fn,
    flows: flows ? Math.round(Math.sqrt(flows.low * Math.min(flows.high, 1e5))) : 1000,
    packetBytes: sizes?.high ?? DEFAULT_PACKET_BYTES,
    mtbr: 0,
  };
}

/** May this function be added here, and if not, why. */
export function AddPanel({ candidate, models, admission, onCandidate, onAdd }: Props) {
  return (
    <Panel title="May I add a function here?">
      <Stack gap={12}>
        <Group align="end" gap={8}>
          <Select
            label="Function"
            placeholder="Choose a function"
            clearable
            w={220}
            value={candidate?.function ?? null}
            onChange={(fn) => onCandidate(fn === null ? null : typical(models, fn))}
            data={models.map((each) => each.function)}
          />
          {candidate && (
            <Button variant="default" onClick={onAdd}>
              Add it to this plan
            </Button>
          )}
        </Group>
        {candidate && <TrafficSliders planned={candidate} models={models} onChange={onCandidate} />}
        {candidate && admission && (
          <Stack gap={8} role="status" aria-label="Answer">
            <StatusMark tone={admission.admitted ? "good" : "bad"}>
              {admission.admitted ? "Yes, every SLA is kept" : "No"}
            </StatusMark>
            {admission.reasons.length > 0 && (
              <List size="sm">
                {admission.reasons.map((reason) => (
                  <List.Item key={reason}>{reason}</List.Item>
                ))}
              </List>
            )}
          </Stack>
        )}
        {!candidate && (
          <Text size="sm" c="dimmed">
            Choose a function to see what each resident would lose, and whether an SLA breaks.
          </Text>
        )}
      </Stack>
    </Panel>
  );
}
