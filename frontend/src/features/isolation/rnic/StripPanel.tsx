import { Button, Group, SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { HeatStrip, StripLegend } from "@/charts/isolation/HeatStrip";
import type { IsolationStrip } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useStrip } from "../queries";
import { vfName } from "../text";
import { useWords } from "../useWords";
import { VfLink } from "../VfLink";
import { rowText, stepText, toRows } from "./stripModel";
import classes from "./StripPanel.module.css";
import { type StripName, STRIPS } from "./view";

/** More rows than these are shown on request; those that matter come first. */
const ROWS = 12;

interface Props {
  host: string;
  pci: string;
  name: StripName;
  onName: (name: StripName) => void;
}

function Rows({ host, pci, data }: { host: string; pci: string; data: IsolationStrip }) {
  const rows = useMemo(() => toRows(data), [data]);
  const words = useWords();
  const { clock } = useTimeFormat();
  const [at, setAt] = useState<number | null>(null);
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, ROWS);
  return (
    <>
      <div className={classes["grid"]} role="group" aria-label="Promises over time">
        {shown.map(({ strip, model, totals }) => (
          <div key={strip.vf} className={classes["row"]} data-strip={strip.vf}>
            <span className={classes["name"]}>
              <VfLink {...{ host, pci, vf: strip.vf, pod: strip.pod }} />
            </span>
            <HeatStrip
              label={`${vfName(strip)} over time: ${rowText(totals, words)}`}
              model={model}
              at={at}
              onAt={setAt}
              describe={(step) => `${clock(model.fromMs + step * model.stepMs)}: ${stepText(model, step, words)}`}
            />
            <span className={classes["total"]}>
              {at === null ? rowText(totals, words) : stepText(model, at, words)}
            </span>
          </div>
        ))}
        <div className={classes["axis"]}>
          <span>{clock(data.since)}</span>
          <span>{at === null ? "" : clock(Date.parse(data.since) + at * data.step_s * 1000)}</span>
          <span>{clock(data.until)}</span>
        </div>
      </div>
      {rows.length > ROWS && (
        <Group justify="center" pt={6}>
          <Button variant="default" size="compact-xs" onClick={() => setAll(!all)}>
            {all ? `Show the first ${ROWS} VFs` : `Show all ${rows.length} VFs`}
          </Button>
        </Group>
      )}
    </>
  );
}

/** All VFs on one time axis: who suffered and who caused it stand in the same columns. */
export function StripPanel({ host, pci, name, onName }: Props) {
  const strip = useStrip(host, pci, STRIPS[name]);
  const words = useWords();
  return (
    <Panel
      title={name === "5m" ? "Second by second" : "Minute by minute"}
      aside={
        <StripLegend
          entries={[
            { kind: "broken", label: words.state("broken").label },
            { kind: "aggressor", label: words.role("aggressor").label },
            { kind: "kept", label: words.state("kept").label },
            { kind: "unknown", label: words.state("unknown").label },
            { kind: "none", label: words.state("not promised").label },
          ]}
        />
      }
      actions={
        <SegmentedControl
          aria-label="Time range"
          value={name}
          onChange={(value) => onName(value === "6h" ? "6h" : "5m")}
          data={[
            { value: "5m", label: "5 min" },
            { value: "6h", label: "6 h" },
          ]}
        />
      }
    >
      <QueryState
        query={strip}
        lines={6}
        isEmpty={(data) => data.vfs.every((vf) => vf.cells.length === 0)}
        empty={
          <EmptyState title="No verdicts in this range">
            {name === "5m"
              ? "The last minutes are judged as samples arrive; choose 6 h to look further back."
              : "Check under Hosts whether the host still reports, and whether its collector reads VF traffic."}
          </EmptyState>
        }
      >
        {(data) => <Rows host={host} pci={pci} data={data} />}
      </QueryState>
    </Panel>
  );
}
