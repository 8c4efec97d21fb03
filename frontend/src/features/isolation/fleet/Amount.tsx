import { Text } from "@mantine/core";
import { secondsText } from "../text";
import classes from "./tables.module.css";

interface Props {
  seconds: number;
  /** The longest bar of the table. */
  most: number;
  caused?: boolean;
}

/** Seconds with a bar; the colour tells suffered from caused, and so does the column's title. */
export function Amount({ seconds, most, caused }: Props) {
  if (seconds === 0)
    return (
      <Text span size="sm" c="dimmed">
        none
      </Text>
    );
  return (
    <>
      {secondsText(seconds)}
      <div
        className={classes["bar"]}
        data-caused={caused || undefined}
        style={{ width: `${(seconds / most) * 100}%` }}
      />
    </>
  );
}
