import { Text } from "@mantine/core";
import type { Control, RemedyAction } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { plural } from "@/lib/format";
import { racksOf, wavesOf, wavesText, type Target } from "./targets";

interface Props {
  action: RemedyAction;
  targets: readonly Target[];
  canary: number;
  growth: number;
  undoOnStop: boolean;
  /** What holds remedies back; undefined until it is known. */
  control: Control | undefined;
  /** It waits for a second person before it begins. */
  proposes: boolean;
}

/** The rollout in plain words: what, where, in which waves, when it goes on, when it stops. */
export function WhatWillHappen({ action, targets, canary, growth, undoOnStop, control, proposes }: Props) {
  const racks = racksOf(targets);
  const kind = action.scope === "host" ? "host" : "RNIC";
  const where = racks.length === 0 ? "" : racks.length <= 6 ? ` in rack${racks.length === 1 ? "" : "s"} ${racks.join(", ")}` : ` in ${racks.length} racks`;
  const most = control?.busy.most_hosts;
  return (
    <div role="group" aria-label="What will happen">
      <Text size="sm">
        <b>{action.title}</b> on {plural(targets.length, kind)}
        {where}: {wavesText(wavesOf(targets, canary, growth))}.
      </Text>
      <Text size="sm">
        <b>It gains:</b> {action.verification.text || action.description}
      </Text>
      <Text size="sm">
        <b>It risks:</b> {action.risk_text}
      </Text>
      <Text size="sm">
        <b>It goes on</b> when telemetry has verified every remedy of a wave (at most {formatDuration(action.verification.within_s * 1000)} each)
        {most === undefined ? "" : `; at most ${plural(most, "host")} at once, so a larger wave goes in parts`}.
      </Text>
      <Text size="sm">
        <b>It stops by itself</b> when a remedy fails or is not verified, when a symptom begins on a host it has reached, or when the action has failed too often lately{undoOnStop ? "; then what it has done is undone" : "; what it has done stays"}.
      </Text>
      {proposes && (
        <Text size="sm">
          <b>It waits first</b> for somebody else&apos;s approval{action.needs_approval ? ": the action is risky" : `: it reaches more than ${plural(control?.approval_above_hosts ?? 0, "host")}`}.
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
