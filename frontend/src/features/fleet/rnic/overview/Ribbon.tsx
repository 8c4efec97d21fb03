import { Tooltip, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PLOT_LEFT, PLOT_RIGHT } from "@/charts/series/toOption";
import type { FindingInterval } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { compareSymptoms, symptomMark } from "@/lib/symptoms";
import { formatDuration } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EVENT_MARKS, type EventMark } from "../events";
import classes from "./Ribbon.module.css";

interface Props {
  findings: readonly FindingInterval[];
  marks: readonly EventMark[];
  fromMs: number;
  toMs: number;
  /** Shows the minutes around a change. */
  onZoom: (fromMs: number, toMs: number) => void;
}

/** A change that has no page of its own is looked at in the minutes around it. */
const AROUND_MS = 120_000;

/** In less of the ribbon than this, an interval has no room for its name. Percent. */
const ROOM_FOR_NAME = 4;

/** Where a part of the range lies, in percent of its length. */
export function placeOf(fromMs: number, untilMs: number | null, range: { fromMs: number; toMs: number }) {
  const length = range.toMs - range.fromMs;
  const from = Math.max(fromMs, range.fromMs);
  const to = Math.min(untilMs ?? range.toMs, range.toMs);
  return { left: ((from - range.fromMs) / length) * 100, width: ((to - from) / length) * 100 };
}

function Interval({ finding, ...range }: { finding: FindingInterval; fromMs: number; toMs: number }) {
  const names = useNames();
  const { clock } = useTimeFormat();
  const from = Date.parse(finding.from);
  const to = finding.to === null ? null : Date.parse(finding.to);
  const place = placeOf(from, to, range);
  if (place.width < 0 || place.left > 100) return null;
  const until = to === null ? "still active" : `until ${clock(to)} (${formatDuration(to - from)})`;
  const text = `${finding.symptom} ${names.symptom(finding.symptom)}: from ${clock(from)}, ${until}`;
  const shown = place.width >= ROOM_FOR_NAME ? symptomMark(finding.symptom) : "";
  const style = { left: `${place.left}%`, width: `${place.width}%` };
  return (
    <Tooltip label={finding.incident_id === null ? text : `${text}. Opens its incident.`} multiline maw={320}>
      {finding.incident_id === null ? (
        <span className={classes["interval"]} style={style} role="img" aria-label={text}>
          {shown}
        </span>
      ) : (
        <Link
          to="/incidents/$id"
          params={{ id: finding.incident_id }}
          className={classes["interval"]}
          style={style}
          aria-label={`${text}. Open its incident`}
        >
          {shown}
        </Link>
      )}
    </Tooltip>
  );
}

/** A change leads to its page, or to the minutes around it. */
function Mark({ mark, onZoom, ...range }: { mark: EventMark; fromMs: number; toMs: number; onZoom: Props["onZoom"] }) {
  const { clock } = useTimeFormat();
  const { left } = placeOf(mark.fromMs, mark.fromMs, range);
  const text = `${clock(mark.fromMs)} ${mark.text}`;
  const shared = { className: classes["mark"], style: { left: `${left}%` } };
  const { page } = mark;
  const letter = EVENT_MARKS[mark.kind];
  const hint = page === null ? "Zooms to it." : "incident" in page ? "Opens the incident." : "Opens the remedy.";
  return (
    <Tooltip label={`${text}. ${hint}`} multiline maw={360}>
      {page === null ? (
        <UnstyledButton
          {...shared}
          aria-label={`${text}. Zoom to it`}
          onClick={() => onZoom(mark.fromMs - AROUND_MS, mark.toMs + AROUND_MS)}
        >
          {letter}
        </UnstyledButton>
      ) : "incident" in page ? (
        <Link {...shared} to="/incidents/$id" params={{ id: page.incident }} aria-label={`${text}. Open the incident`}>
          {letter}
        </Link>
      ) : (
        <Link {...shared} to="/remedies" search={{ remedy: page.remedy }} aria-label={`${text}. Open the remedy`}>
          {letter}
        </Link>
      )}
    </Tooltip>
  );
}

/** Above the charts, on their time axis: a lane for each symptom, which leads to its incident, and one for what changed. */
export function Ribbon({ findings, marks, fromMs, toMs, onZoom }: Props) {
  const range = { fromMs, toMs };
  const symptoms = [...new Set(findings.map((each) => each.symptom))].sort(compareSymptoms);
  if (symptoms.length === 0 && marks.length === 0) return null;
  return (
    <div
      className={classes["ribbon"]}
      style={{ marginLeft: PLOT_LEFT, marginRight: PLOT_RIGHT }}
      role="group"
      aria-label="Symptoms and changes"
    >
      {symptoms.map((symptom) => (
        <div key={symptom} className={classes["lane"]} data-lane={symptom}>
          <span className={classes["name"]}>{symptomMark(symptom)}</span>
          {findings
            .filter((each) => each.symptom === symptom)
            .map((each) => (
              <Interval key={each.finding_id} finding={each} {...range} />
            ))}
        </div>
      ))}
      {marks.length > 0 && (
        <div className={classes["lane"]} data-lane="changes">
          <span className={classes["name"]}>changes</span>
          {marks.map((mark) => (
            <Mark key={`${mark.kind} ${mark.fromMs}`} mark={mark} onZoom={onZoom} {...range} />
          ))}
        </div>
      )}
    </div>
  );
}
