import { Text } from "@mantine/core";
import type { CaptureAnalysis } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatNs } from "@/lib/time/shortTimes";
import { Panel } from "@/lib/ui/Panel";
import classes from "./Captures.module.css";

const number = (value: number) => value.toLocaleString("en");

function factsOf(analysis: CaptureAnalysis): [string, string][] {
  const { half_rtt: rtt, mirror } = analysis;
  const facts: [string, string | false][] = [
    ["Frames", `${number(analysis.frames)}, ${number(analysis.roce)} with RoCE, ${number(analysis.cut)} cut short`],
    [
      "Queue pairs",
      `${number(analysis.rc_qps)} reliable connected${analysis.vxlan_qps > 0 ? `, ${number(analysis.vxlan_qps)} in VXLAN` : ""}`,
    ],
    ["Retransmissions", `${number(analysis.retransmissions.length + analysis.omitted.retransmissions)}`],
    [
      "ICRC",
      analysis.icrc === "bad"
        ? `wrong in ${plural(analysis.bad_icrc_frames.length + analysis.omitted.bad_icrc_frames, "frame")}: ${analysis.bad_icrc_frames.slice(0, 12).map(number).join(", ")}${analysis.bad_icrc_frames.length > 12 ? ", …" : ""}`
        : analysis.icrc === "ok"
          ? "right in every packet that is whole"
          : "unknown: every packet is cut short",
    ],
    ["Time resolution", formatNs(analysis.resolution_ns)],
    ["Round trip", rtt.rtt_ns === null ? "unknown" : `${formatNs(rtt.rtt_ns)}, ${rtt.source ?? ""}`],
    [
      "Reordered",
      analysis.reordered > 0 &&
        `${plural(analysis.reordered, "packet")}, at most ${plural(analysis.reorder_distance, "PSN")} late`,
    ],
    [
      "Resent without a loss",
      analysis.spurious_retransmissions > 0 &&
        `${plural(analysis.spurious_retransmissions, "retransmission")} caused by reordering`,
    ],
    [
      "MigReq 0",
      analysis.migreq_zero_qpns.length > 0 &&
        `${plural(analysis.migreq_zero_qpns.length, "queue pair")}; a ConnectX-5 handles new ones slowly`,
    ],
    [
      "Unpaired",
      analysis.unpaired_directions > 0 &&
        `${plural(analysis.unpaired_directions, "direction")} without the opposite: their answers cannot be judged`,
    ],
    ["Doubled", analysis.duplicate_frames > 0 && `${plural(analysis.duplicate_frames, "frame")}, counted once`],
    ["Truncated", analysis.truncated && "the file ends inside a record"],
    [
      "Mirror",
      mirror !== null && (mirror["complete"] === true ? "complete" : "incomplete: the figures below may be wrong"),
    ],
    ...Object.entries(analysis.notes).map(([note, count]): [string, string] => [note, number(count)]),
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== false);
}

/** What the file is, before what it shows. */
export function SummaryPanel({ analysis }: { analysis: CaptureAnalysis }) {
  return (
    <Panel title="Summary">
      <dl className={classes["facts"]}>
        {factsOf(analysis).map(([name, value]) => (
          <div key={name}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="sm">
              {value}
            </Text>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
