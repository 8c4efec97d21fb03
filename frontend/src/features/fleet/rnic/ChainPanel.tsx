import "@/lib/ui/mantineMore.css";
import { Grid, Text } from "@mantine/core";
import { useMemo } from "react";
import { MaskChart } from "@/charts/masks/MaskChart";
import type { MaskModel } from "@/charts/masks/model";
import type { MaskEntry } from "@/lib/api/types";
import { formatNumber, plural } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useMasks } from "./queries";

/** Mean position of the mask that matched, weighted by packets (paper, section 4.2); null when no packet was seen. */
export function meanQueries(chain: readonly MaskEntry[]): number | null {
  let packets = 0;
  let queries = 0;
  for (const mask of chain) {
    packets += mask.packets ?? 0;
    queries += (mask.packets ?? 0) * mask.position;
  }
  return packets > 0 ? queries / packets : null;
}

function toMaskModel(chain: readonly MaskEntry[]): MaskModel {
  return {
    q: meanQueries(chain),
    bars: chain.map((m) => ({
      position: m.position,
      mask: m.mask,
      match: m.match ?? "match unknown",
      flows: m.flows,
      packets: m.packets,
      lengthBits: m.length_bits,
    })),
  };
}

function Chain({ title, chain }: { title: string; chain: readonly MaskEntry[] }) {
  const model = useMemo(() => toMaskModel(chain), [chain]);
  if (chain.length === 0)
    return (
      <EmptyState title={`No ${title.toLowerCase()} masks`}>
        Open vSwitch has not offloaded any flow in this direction.
      </EmptyState>
    );
  return (
    <>
      <Text size="sm" mb={2}>
        <b>{title}</b> · {plural(chain.length, "mask")} · {formatNumber(model.q)} lookups per packet on average
      </Text>
      <MaskChart model={model} direction={title} />
    </>
  );
}

export function ChainPanel({ host, pci }: { host: string; pci: string }) {
  const masks = useMasks(host, pci);
  const { clock } = useTimeFormat();
  return (
    <Panel
      title="Mask chain"
      aside={
        <Text size="xs" c="dimmed">
          in lookup order, head first{masks.data?.at ? ` · sampled ${clock(masks.data.at)}` : ""}
        </Text>
      }
    >
      <QueryState
        query={masks}
        lines={6}
        isEmpty={(data) => data.at === null}
        empty={
          <EmptyState title="No mask samples yet">
            The collector samples masks every 10 s while Open vSwitch answers on its control socket.
          </EmptyState>
        }
      >
        {(data) => (
          <Grid gap={12}>
            <Grid.Col span={{ base: 12, md: 6 }}>
              <Chain title="Egress" chain={data.egress} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 6 }}>
              <Chain title="Ingress" chain={data.ingress} />
            </Grid.Col>
          </Grid>
        )}
      </QueryState>
    </Panel>
  );
}
