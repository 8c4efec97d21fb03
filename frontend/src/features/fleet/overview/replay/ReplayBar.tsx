import { ActionIcon, Button, Text } from "@mantine/core";
import { IconPlayerPauseFilled, IconPlayerPlayFilled } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { asProblem } from "@/lib/api/problem";
import { plural } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { MINUTES, minuteAgo, minutesAgo } from "./minutes";
import classes from "./ReplayBar.module.css";

/** A minute of the fleet is looked at for so long while the replay plays. */
const STEP_MS = 700;

interface Props {
  minute: string;
  now: number;
  /** The minute's data are on their way: the replay waits for them. */
  waiting: boolean;
  error: unknown;
  onMinute: (minute: string | undefined) => void;
}

/** The last hour, minute by minute: a slider, which the arrow keys move too, and a button that plays it. */
export function ReplayBar({ minute, now, waiting, error, onMinute }: Props) {
  const { clock } = useTimeFormat();
  const [playing, setPlaying] = useState(false);
  const ago = minutesAgo(minute, now);
  const atEnd = ago <= 1;
  useEffect(() => {
    if (!playing || waiting) return;
    if (atEnd) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => onMinute(minuteAgo(ago - 1, now)), STEP_MS);
    return () => clearTimeout(timer);
    // Without `now`, which changes every second and would start the timer again.
  }, [playing, waiting, minute, atEnd, onMinute]); // eslint-disable-line react-hooks/exhaustive-deps
  const play = () => {
    if (!playing && atEnd) onMinute(minuteAgo(MINUTES, now));
    setPlaying(!playing);
  };
  const said = `${clock(minute).replace(/:\d\d( UTC)?$/, "$1")}, ${plural(ago, "minute")} ago`;
  return (
    <section className={classes["bar"]} aria-label="Replay of the fleet" aria-busy={waiting}>
      <ActionIcon variant="default" aria-label={playing ? "Pause the replay" : "Play the replay"} onClick={play}>
        {playing ? <IconPlayerPauseFilled size={14} /> : <IconPlayerPlayFilled size={14} />}
      </ActionIcon>
      <input
        type="range"
        className={classes["slider"]}
        aria-label="Minute that is shown"
        aria-valuetext={said}
        min={-MINUTES}
        max={-1}
        step={1}
        value={Math.max(-MINUTES, Math.min(-1, -ago))}
        onChange={(event) => {
          setPlaying(false);
          onMinute(minuteAgo(-Number(event.currentTarget.value), now));
        }}
      />
      <Text size="sm" fw={600} className={classes["time"]} data-minute={minute}>
        {said}
      </Text>
      {error !== null && (
        <Text size="sm" c="var(--ww-bad)" role="alert">
          The tiles show the present: {asProblem(error).message}
        </Text>
      )}
      <Button size="compact-sm" onClick={() => onMinute(undefined)}>
        Back to now
      </Button>
    </section>
  );
}
