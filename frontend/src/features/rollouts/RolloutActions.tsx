import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
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
  const ends = state === "pending" || state === "running" || state === "paused";
  return (
    <>
      {change.isError && <ProblemNotice error={change.error} />}
      <Group gap={6}>
        {state === "pending" && (
          <Button size={size} onClick={() => setAsked("approve")}>
            Approve
          </Button>
        )}
        {(state === "running" || state === "undoing") && (
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
