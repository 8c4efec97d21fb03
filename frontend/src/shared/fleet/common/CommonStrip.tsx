import { Text, Tooltip, UnstyledButton } from "@mantine/core";
import type { Commonality } from "@/lib/api/types";
import classes from "./CommonStrip.module.css";
import { countText, propertyText, reasonText } from "./commonText";
import { useCommonalities } from "./queries";

interface Props {
  /** Nothing is asked while nobody is sick. */
  anySick: boolean;
  /** Those that count; all when empty. */
  symptoms: readonly string[];
  /** What shows the hosts or incidents with a property; null where the page has no such filter. */
  onShow: (property: Pick<Commonality, "dimension" | "value">) => (() => void) | null;
}

const SHOWN = 4;

/** What the sick hosts share beyond chance; nothing at all when chance explains everything. */
export function CommonStrip({ anySick, symptoms, onShow }: Props) {
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
        const show = onShow(item);
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
