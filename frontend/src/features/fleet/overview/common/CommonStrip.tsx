import { Text, Tooltip, UnstyledButton } from "@mantine/core";
import { type FleetFilters, toList } from "@/shared/fleet/filters";
import { isSymptom } from "@/lib/symptoms";
import { useCommonalities } from "../queries";
import type { FleetView } from "../view";
import classes from "./CommonStrip.module.css";
import { countText, propertyText, reasonText } from "./commonText";

interface Props {
  /** Nothing is asked while nobody is sick. */
  anySick: boolean;
  filters: FleetFilters;
  onFilters: (filters: FleetFilters) => void;
  view: FleetView;
  onView: (view: FleetView) => void;
}

const SHOWN = 4;

/** What the sick hosts share beyond chance; nothing at all when chance explains everything. */
export function CommonStrip({ anySick, filters, onFilters, view, onView }: Props) {
  const symptoms = toList(filters.symptom).filter(isSymptom);
  const { data } = useCommonalities(symptoms, anySick);
  if (!anySick || !data || data.items.length === 0) return null;
  return (
    <section className={classes["strip"]} aria-label="What sick hosts have in common">
      <Text size="sm" fw={600}>
        Sick hosts have in common
      </Text>
      {data.items.slice(0, SHOWN).map((item) => {
        const words = (
          <>
            <b>{propertyText(item)}</b> · {countText(item, data)}
          </>
        );
        const { dimension, value } = item;
        const show =
          dimension === "firmware"
            ? () => onView({ ...view, group: "firmware", order: "sick" })
            : dimension === "change"
              ? null
              : () => onFilters({ ...filters, [dimension]: value });
        return (
          <Tooltip key={`${dimension} ${value}`} label={reasonText(item, data.tested)} multiline w={330}>
            {show ? (
              <UnstyledButton className={classes["item"]} fz="sm" onClick={show}>
                {words}
              </UnstyledButton>
            ) : (
              <Text className={classes["item"]} size="sm" tabIndex={0}>
                {words}
              </Text>
            )}
          </Tooltip>
        );
      })}
      {data.items.length > SHOWN && (
        <Text size="sm" c="dimmed">
          and {data.items.length - SHOWN} more
        </Text>
      )}
    </section>
  );
}
