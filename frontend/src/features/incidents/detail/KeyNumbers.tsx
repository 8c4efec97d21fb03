import { Text } from "@mantine/core";
import type { Evidence, Incident } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";
import { sparkPath } from "@/lib/sparkline";
import { boundOf } from "../evidence/chartModels";
import { evidenceValue } from "../evidence/evidenceText";
import { useEvidenceSeries } from "../evidence/useEvidenceSeries";
import { worstOf } from "../evidence/worst";
import classes from "./WhatPanel.module.css";

const SHOWN = 3;
const WIDTH = 300;
const HEIGHT = 40;

/** As wide and as high as there is room for; nothing where no samples of that time are stored. */
function Spark({ evidence, values }: { evidence: Evidence; values: readonly (number | null)[] | undefined }) {
  const { line, limitY } = sparkPath(values ?? [], boundOf(evidence.expected), WIDTH, HEIGHT);
  if (line === "") return null;
  return (
    <svg className={classes["spark"]} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {limitY !== null && (
        <line x1={0} x2={WIDTH} y1={limitY} y2={limitY} stroke="var(--ww-bad)" strokeDasharray="4 3" />
      )}
      <path d={line} fill="none" stroke="var(--ww-accent)" strokeWidth={1.5} />
    </svg>
  );
}

/**
 * The first few signals of the evidence with their course from before the onset; the charts below show the same at length.
 * Once the symptom has cleared, the number is the worst one, because the newest is that of a healthy RNIC.
 */
export function KeyNumbers({ incident }: { incident: Incident }) {
  const finding = incident.findings.find(({ finding_id }) => finding_id === incident.finding_id);
  const { signals } = useEvidenceSeries(finding, incident.evidence);
  const first = [...new Map(incident.evidence.map((each) => [each.signal, each])).values()].slice(0, SHOWN);
  if (first.length === 0) return null;
  return (
    <ul className={classes["numbers"]} aria-label="Key numbers">
      {first.map((each) => {
        const values = signals.data?.values[each.signal];
        const worst = incident.active ? null : worstOf(each, values);
        return (
          <li key={each.signal} className={classes["number"]}>
            <span className={classes["label"]}>
              <Text size="sm">{each.label}</Text>
              {each.expected && (
                <Text size="xs" c="dimmed">
                  expected {formatExpected(each.expected, each.unit)}
                  {worst !== null && `, at clearing ${evidenceValue(each)}`}
                </Text>
              )}
            </span>
            <Text fw={700} style={{ whiteSpace: "nowrap" }}>
              {worst === null ? evidenceValue(each) : `${evidenceValue({ ...each, value: worst })} at worst`}
            </Text>
            <Spark evidence={each} values={values} />
          </li>
        );
      })}
    </ul>
  );
}
