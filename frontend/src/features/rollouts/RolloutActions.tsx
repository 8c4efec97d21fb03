import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { stateOf } from "@/lib/states";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useChangeRollout } from "./queries";
import { ApproveRolloutDialog, EndRolloutDialog, UndoRolloutDialog } from "./RolloutDialogs";

/** What can be done with a rollout in its present state. */
export function RolloutActions({ rollout, size }: { rollout: Rollout; size: "compact-xs" | "sm" }) {
  const change = useChangeRollout();
  const [asked, setAsked] = useState<"approve" | "end" | "undo" | null>(null);
  const { id, state } = rollout;
  const busy = change.isPending;
  const close = () => setAsked(null);
  const { over, outcome } = stateOf(useStates("rollout"), state);
  const ends = !over && rollout.undo === null;
  // Forward or back: a worker takes it from target to target.
  const advances = outcome === "waiting" && state !== "pending";
  return (
    <>
      {change.isError && <ProblemNotice error={change.error} />}
      <Group gap={6}>
        {state === "pending" && (
          <Button size={size} onClick={() => setAsked("approve")}>
            Approve
          </Button>
        )}
        {advances && (
          <Button size={size} variant="default" loading={busy} onClick={() => change.mutate({ id, kind: "pause" })}>
            Pause
          </Button>
        )}
        {state === "paused" && (
          <Button size={size} variant="default" loading={busy} onClick={() => change.mutate({ id, kind: "resume" })}>
            Resume
          </Button>
        )}
        {ends && (
          <Button size={size} variant="default" onClick={() => setAsked("end")}>
            {state === "pending" ? "Reject" : "Stop"}
          </Button>
        )}
        {!ends && rollout.undoable && (
          <Button size={size} variant="default" onClick={() => setAsked("undo")}>
            {state === "undo_paused" ? "Try again…" : "Roll back…"}
          </Button>
        )}
      </Group>
      {asked === "approve" && <ApproveRolloutDialog rollout={rollout} onClose={close} />}
      {asked === "end" && <EndRolloutDialog rollout={rollout} onClose={close} />}
      {asked === "undo" && <UndoRolloutDialog rollout={rollout} onClose={close} />}
    </>
  );
}
