import { Text } from "@mantine/core";
import type { Control, RemedyAction } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { racksOf, type Target, wavesOf, wavesText } from "./targets";

interface Props {
  action: RemedyAction;
  targets: readonly Target[];
  canary: number;
  growth: number;
  undoOnStop: boolean;
  /** What holds remedies back; undefined until it is known. */
  control: Control | undefined;
  /** It waits for a second person before it starts. */
  proposes: boolean;
}

/** Without a signal that shows an effect, the change alone is waited for. */
function longestCheckS({ change, cures }: RemedyAction): number {
  return Math.max(change.within_s, ...cures.map((cure) => cure.within_s));
}

/** The rollout in plain words: what, where, in which waves, when it goes on, when it stops. */
export function WhatWillHappen({ action, targets, canary, growth, undoOnStop, control, proposes }: Props) {
  const racks = racksOf(targets);
  const kind = action.scope === "host" ? "host" : "RNIC";
  const where =
    racks.length === 0
      ? ""
      : racks.length <= 6
        ? ` in rack${racks.length === 1 ? "" : "s"} ${racks.join(", ")}`
        : ` in ${racks.length} racks`;
  const most = control?.busy.most_hosts;
  return (
    <div role="group" aria-label="What will happen">
      <Text size="sm">
        <b>{action.title}</b> on {plural(targets.length, kind)}
        {where}: {wavesText(wavesOf(targets, canary, growth))}.
      </Text>
      <Text size="sm">
        <b>Benefit:</b> {action.cures.map((cure) => cure.text).join(" ") || action.description}
      </Text>
      <Text size="sm">
        <b>Risk:</b> {action.risk_text}
      </Text>
      <Text size="sm">
        <b>Progression:</b> the next wave starts when every remedy of a wave is confirmed (at most{" "}
        {formatDuration(longestCheckS(action) * 1000)} each)
        {most === undefined ? "" : `; at most ${plural(most, "host")} at once, so a larger wave runs in parts`}.
      </Text>
      <Text size="sm">
        <b>Stops automatically</b> when a remedy fails or is not confirmed, when a symptom starts on a changed host, or
        when the action has failed too often recently
        {undoOnStop ? ", then rolls back" : "; applied changes stay"}.
      </Text>
      {proposes && (
        <Text size="sm">
          <b>Approval:</b> a second person must approve first
          {action.needs_approval
            ? ": the action is high-risk"
            : `: it targets more than ${plural(control?.approval_above_hosts ?? 0, "host")}`}
          .
        </Text>
      )}
      {control?.stop && (
        <Text size="sm" role="alert" style={{ color: "var(--ww-bad)" }}>
          {control.stop.by} has stopped all remedies ({control.stop.reason}): the rollout would wait.
        </Text>
      )}
    </div>
  );
}
