import { Link } from "@tanstack/react-router";
import { memo, type MouseEvent, type Ref } from "react";
import type { IncidentSummary } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { useStates } from "@/lib/api/useStates";
import { isOver } from "@/lib/states";
import { formatAgo } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { IncidentStateMark } from "@/shared/incidents/IncidentStateMark";
import { lastedText, whereText } from "@/shared/incidents/incidentText";
import classes from "./IncidentTable.module.css";

interface Props {
  ref: Ref<HTMLTableRowElement>;
  /** Its place in the list, from 0. */
  index: number;
  incident: IncidentSummary;
  selected: boolean;
  current: boolean;
  /** Rounded, so that a long list is not redrawn each second. */
  now: number;
  onToggle: (id: string, extend: boolean) => void;
}

function Cause({ id }: { id: string | null }) {
  const name = useNames().cause(id ?? "");
  if (id === null) return <>–</>;
  return (
    <div className={classes["line"]} title={`${id} ${name}`}>
      <b>{id}</b> {name === id ? "" : name}
    </div>
  );
}

/** One incident in two lines; `data-current` is where the keyboard stands. Plain elements: a filter draws some thirty rows at once. */
export const IncidentRow = memo(function IncidentRow({
  ref,
  index,
  incident,
  selected,
  current,
  now,
  onToggle,
}: Props) {
  const { time } = useTimeFormat();
  const states = useStates("incident");
  const toggle = (event: MouseEvent) => onToggle(incident.id, event.shiftKey);
  return (
    <tr
      ref={ref}
      data-index={index}
      aria-rowindex={index + 2}
      data-incident={incident.id}
      data-state={incident.state}
      data-current={current || undefined}
      data-selected={selected || undefined}
      className={classes["row"]}
    >
      <td className={classes["check"]}>
        <input
          type="checkbox"
          className={classes["box"]}
          aria-label={`Select ${incident.title}, ${incident.subject}`}
          checked={selected}
          onClick={toggle}
          onChange={() => undefined}
        />
      </td>
      <td className={classes["state"]}>
        <IncidentStateMark incident={incident} />
        {incident.inhibited_by !== null && (
          <div
            className={classes["small"]}
            title="Caused by a Wallwatch remedy: no notification unless it outlasts the remedy"
          >
            by remedy
          </div>
        )}
        {!incident.active && !isOver(states, incident.state) && (
          <div
            className={classes["small"]}
            title={incident.cleared_at === null ? undefined : `since ${time(incident.cleared_at)}`}
          >
            symptom cleared
          </div>
        )}
      </td>
      <td className={classes["severity"]}>
        <StatusMark tone={incident.severity === "critical" ? "bad" : "warn"}>{incident.severity}</StatusMark>
      </td>
      <td>
        <span className={classes["symptoms"]}>
          {incident.symptoms.map((symptom) => (
            <SymptomBadge key={symptom} symptom={symptom} over={!incident.active} />
          ))}
        </span>
      </td>
      <td className={classes["title"]}>
        <Link to="/incidents/$id" params={{ id: incident.id }} data-open>
          {incident.title}
        </Link>
        <div className={classes["small"]}>
          {whereText(incident)}
          {incident.scope !== "rack" && incident.rack ? ` · ${incident.rack}` : ""}
        </div>
      </td>
      <td>
        <Cause id={incident.cause} />
      </td>
      <td className={classes["assignee"]} title={incident.assignee ?? undefined}>
        {incident.assignee ?? "–"}
      </td>
      <td className={classes["when"]} title={time(incident.opened_at)}>
        {formatAgo(incident.opened_at, now)}
        {!incident.active && <div className={classes["small"]}>lasted {lastedText(incident, now)}</div>}
      </td>
      <td className={classes["when"]} title={time(incident.updated_at)}>
        {formatAgo(incident.updated_at, now)}
      </td>
    </tr>
  );
});
