import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import type { FleetForecast } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import classes from "./ForecastTimeline.module.css";
import { MOST_ROWS, ticksOf, timelineRows, type TimelineRow } from "./timeline";
import { aheadText, intervalText, reachText } from "./times";

const percent = (share: number) => `${(share * 100).toFixed(2)}%`;

function Row({ row }: { row: TimelineRow }) {
  const { item, from, to, at, open } = row;
  return (
    <li className={classes["row"]} data-rnic={`${item.host}|${item.pci}`}>
      <span className={classes["name"]}>
        <Link to="/rnics/$host/$pci" params={{ host: item.host, pci: item.pci }} search={{ tab: "forecast" }}>
          {item.host} <span style={{ fontFamily: "var(--ww-mono)" }}>{item.pci.replace(/^0000:/, "")}</span>
        </Link>{" "}
        <span className={classes["limit"]}>{item.label}</span>
      </span>
      <div
        className={classes["track"]}
        role="img"
        aria-label={`${reachText(item)}, 90% interval ${intervalText(item)}`}
      >
        <div
          className={classes["bar"]}
          data-open={open || undefined}
          style={{ left: percent(from), width: percent(to - from) }}
        />
        <div className={classes["dot"]} style={{ left: percent(at) }} />
        <span
          className={classes["when"]}
          data-left={to > 0.9 || undefined}
          style={{ left: percent(to > 0.9 ? from : to) }}
        >
          {aheadText(item.likely_in_s ?? 0)}
        </span>
      </div>
    </li>
  );
}

/** The next minutes as a picture: when each RNIC that is likely to reach a limit reaches it. Nothing where none is. */
export function ForecastTimeline({ items, spanMin }: { items: readonly FleetForecast[]; spanMin: number }) {
  const rows = timelineRows(items, spanMin * 60);
  if (rows.length === 0) return null;
  const ticks = ticksOf(spanMin * 60);
  const more = rows.length - MOST_ROWS;
  return (
    <Panel
      title={`The next ${spanMin} minutes`}
      aside={
        <Text size="xs" c="dimmed">
          dot: median · bar: 90% interval
        </Text>
      }
    >
      <div className={classes["picture"]} style={{ "--steps": ticks.length - 1 } as CSSProperties}>
        <ol className={classes["axis"]} aria-hidden="true">
          {ticks.map((minutes) => (
            <li key={minutes} style={{ left: percent(minutes / spanMin) }}>
              {minutes === 0 ? "now" : `${minutes} min`}
            </li>
          ))}
        </ol>
        <ul className={classes["rows"]} aria-label="When limits are reached">
          {rows.slice(0, MOST_ROWS).map((row) => (
            <Row key={`${row.item.host}|${row.item.pci}`} row={row} />
          ))}
        </ul>
      </div>
      {more > 0 && (
        <Text size="xs" c="dimmed" mt={6}>
          and {plural(more, "RNIC")} later, in the list below
        </Text>
      )}
    </Panel>
  );
}
