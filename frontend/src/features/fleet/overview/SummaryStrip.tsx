import { Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useNames } from "@/lib/api/useCatalogue";
import { plural } from "@/lib/format";
import { bandColor, BANDS } from "@/lib/headroom";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { type FleetFilters, fromList, toList } from "@/shared/fleet/filters";
import type { FleetSummary } from "./summary";
import classes from "./SummaryStrip.module.css";

interface Props {
  summary: FleetSummary;
  filters: FleetFilters;
  onFilters: (filters: FleetFilters) => void;
}

/** More kinds of symptoms than this leave no room for the bands' words on a narrow screen. */
const MANY = 3;
const MARKS: Readonly<Record<string, string>> = {
  beyond: "◆",
  near: "▲",
  high: "H",
  moderate: "M",
  low: "L",
  unknown: "?",
};

function toggle(list: string | undefined, value: string): string | undefined {
  const values = toList(list);
  return fromList(values.includes(value) ? values.filter((v) => v !== value) : [...values, value]);
}

/** A count that is no filter: a mark, which the tiles have too, and its word where there is room. */
function Fact({ mark, count, word, hint }: { mark: string; count: number; word: string; hint: string }) {
  return (
    <Tooltip label={`${plural(count, "RNIC")} ${hint}`}>
      <Text size="sm" className={classes["fact"]}>
        <span aria-hidden="true">{mark}</span> {count.toLocaleString("en")}{" "}
        <span className={classes["word"]}>{word}</span>
      </Text>
    </Tooltip>
  );
}

/** Counts by use of the nearest limit and by symptom. Each count is a switch for the filter that shows just these. */
export function SummaryStrip({ summary, filters, onFilters }: Props) {
  const names = useNames();
  return (
    <div
      className={classes["strip"]}
      data-many={summary.symptoms.length > MANY || undefined}
      role="group"
      aria-label="Summary of the fleet"
    >
      <Text size="sm" fw={600} mr={4} data-testid="fleet-total">
        {plural(summary.total, "RNIC")}
      </Text>
      {BANDS.map(({ band, label, range }) => {
        const pressed = toList(filters.use).includes(band);
        return (
          <Tooltip key={band} label={`${label}: ${range}`}>
            <UnstyledButton
              className={classes["count"]}
              aria-pressed={pressed}
              aria-label={`${label}, ${range}: ${plural(summary.bands[band], "RNIC")}`}
              onClick={() => onFilters({ ...filters, use: toggle(filters.use, band) })}
            >
              <span
                className={classes["swatch"]}
                style={{ background: bandColor(band), color: `var(--ww-on-band-${band})` }}
              >
                {MARKS[band] ?? ""}
              </span>
              <span className={classes["label"]} data-alarm={band === "beyond" || band === "near"}>
                {label}
              </span>
              <b>{summary.bands[band].toLocaleString("en")}</b>
            </UnstyledButton>
          </Tooltip>
        );
      })}
      <span className={classes["divider"]} />
      {summary.symptoms.length === 0 && (
        <Text size="sm" c="dimmed">
          no active symptoms
        </Text>
      )}
      {summary.symptoms.map(([symptom, count]) => (
        <UnstyledButton
          key={symptom}
          className={classes["count"]}
          aria-pressed={toList(filters.symptom).includes(symptom)}
          aria-label={`${symptom} ${names.symptom(symptom)}: ${plural(count, "RNIC")}`}
          onClick={() => onFilters({ ...filters, symptom: toggle(filters.symptom, symptom) })}
        >
          <SymptomBadge symptom={symptom} short />
          <b>{count.toLocaleString("en")}</b>
        </UnstyledButton>
      ))}
      {summary.recent > 0 && (
        <Fact mark="◌" count={summary.recent} word="cleared" hint="had a symptom that cleared in the last 30 minutes" />
      )}
      {summary.cordoned > 0 && <Fact mark="⊘" count={summary.cordoned} word="cordoned" hint="take no new VFs" />}
      {summary.stale > 0 && <Fact mark="▨" count={summary.stale} word="stale" hint="sent no recent data" />}
    </div>
  );
}
