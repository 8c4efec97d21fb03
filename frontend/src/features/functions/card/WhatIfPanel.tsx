import { List, Stack, Text } from "@mantine/core";
import type { NfModel, PredictedFunction } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import type { Planned } from "../scenario";
import { kpps } from "../text";
import { TrafficSliders } from "./TrafficSliders";

interface Props {
  planned: Planned;
  found: PredictedFunction | undefined;
  models: readonly NfModel[];
  onChange: (planned: Planned) => void;
}

/** Sliders for the traffic of one function, who takes what from it, and where another resource takes over. */
export function WhatIfPanel({ planned, found, models, onChange }: Props) {
  const takers = found?.contributors.filter(({ kpps: taken }) => taken >= 0.005 * found.solo_kpps) ?? [];
  return (
    <Panel title="What if" aside={<Text span size="xs" c="dimmed">{`traffic of ${planned.name}`}</Text>}>
      <Stack gap={12}>
        <TrafficSliders planned={planned} models={models} onChange={onChange} />
        {found && (
          <div>
            <Text size="sm" fw={600}>
              Who takes its throughput
            </Text>
            {takers.length === 0 ? (
              <Text size="sm" c="dimmed">
                No single neighbour: without any one of them it would get no more.
              </Text>
            ) : (
              <List size="sm" aria-label="Who takes its throughput">
                {takers.map((taker) => (
                  <List.Item key={taker.name}>
                    without {taker.name}, {kpps(taker.kpps)} would come back
                  </List.Item>
                ))}
              </List>
            )}
            {found.shifts_at_mtbr !== null && (
              <Text size="xs" c="dimmed" mt={4}>
                The accelerator is its slower resource above {formatNumber(Math.round(found.shifts_at_mtbr))} matches
                per MB, memory below.
              </Text>
            )}
          </div>
        )}
      </Stack>
    </Panel>
  );
}
