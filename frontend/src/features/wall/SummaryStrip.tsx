import { Group, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useNames } from "@/lib/api/useCatalogue";
import { BANDS, bandColor } from "@/lib/headroom";
import { plural } from "@/lib/format";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { fromList, toList, type WallFilters } from "./filters";
import type { WallSummary } from "./summary";
import classes from "./SummaryStrip.module.css";

interface Props {
  summary: WallSummary;
  filters: WallFilters;
  onFilters: (filters: WallFilters) => void;
}

const MARKS: Readonly<Record<string, string>> = { beyond: "◆", near: "▲" };

function toggle(list: string | undefined, value: string): string | undefined {
  const values = toList(list);
  return fromList(values.includes(value) ? values.filter((v) => v !== value) : [...values, value]);
}

/** Counts by headroom band and by symptom. Each count is a switch for the filter that shows just these. */
export function SummaryStrip({ summary, filters, onFilters }: Props) {
  const names = useNames();
  return (
    <Group gap={8} role="group" aria-label="Summary of the fleet" wrap="wrap">
      <Text size="sm" fw={600} mr={4} data-testid="wall-total">
        {plural(summary.total, "RNIC")}
      </Text>
      {BANDS.map(({ band, label, range }) => {
        const pressed = toList(filters.headroom).includes(band);
        return (
          <Tooltip key={band} label={`${label}: ${range}`}>
            <UnstyledButton className={classes["count"]} aria-pressed={pressed} aria-label={`${label}, ${range}: ${plural(summary.bands[band], "RNIC")}`} onClick={() => onFilters({ ...filters, headroom: toggle(filters.headroom, band) })}>
              <span className={classes["swatch"]} style={{ background: bandColor(band), color: `var(--ww-on-band-${band})` }}>
                {MARKS[band] ?? ""}
              </span>
              <span className={classes["label"]}>{label}</span>
              <b>{summary.bands[band].toLocaleString("en")}</b>
            </UnstyledButton>
          </Tooltip>
        );
      })}
      <span className={classes["divider"]} />
      {summary.symptoms.length === 0 && (
        <Text size="sm" c="dimmed">
          no active symptom
        </Text>
      )}
      {summary.symptoms.map(([symptom, count]) => (
        <UnstyledButton key={symptom} className={classes["count"]} aria-pressed={toList(filters.symptom).includes(symptom)} aria-label={`${symptom} ${names.symptom(symptom)}: ${plural(count, "RNIC")}`} onClick={() => onFilters({ ...filters, symptom: toggle(filters.symptom, symptom) })}>
          <SymptomBadge symptom={symptom} />
          <b>{count.toLocaleString("en")}</b>
        </UnstyledButton>
      ))}
      {summary.cordoned > 0 && <Text size="sm">⊘ {summary.cordoned.toLocaleString("en")} cordoned</Text>}
      {summary.stale > 0 && <Text size="sm">▨ {summary.stale.toLocaleString("en")} stale</Text>}
    </Group>
  );
}
