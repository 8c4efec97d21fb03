import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { EndRolloutDialog } from "./EndRolloutDialog";
import { useChangeRollout } from "./rolloutQueries";

/** What can be done with a rollout in its present state. */
export function RolloutActions({ rollout, size }: { rollout: Rollout; size: "compact-xs" | "sm" }) {
  const change = useChangeRollout();
  const [ending, setEnding] = useState(false);
  const { id, state } = rollout;
  const busy = change.isPending;
  return (
    <>
      {change.isError && <ProblemNotice error={change.error} />}
      <Group gap={6}>
        {state === "proposed" && (
          <Button size={size} loading={busy} onClick={() => change.mutate({ id, kind: "approve" })}>
            Approve
          </Button>
        )}
        {state === "running" && (
          <Button size={size} variant="default" loading={busy} onClick={() => change.mutate({ id, kind: "pause" })}>
            Pause
          </Button>
        )}
        {state === "paused" && (
          <Button size={size} variant="default" loading={busy} onClick={() => change.mutate({ id, kind: "resume" })}>
            Resume
          </Button>
        )}
        {(state === "proposed" || state === "running" || state === "paused") && (
          <Button size={size} variant="default" onClick={() => setEnding(true)}>
            {state === "proposed" ? "Reject" : "Stop"}
          </Button>
        )}
      </Group>
      {ending && <EndRolloutDialog rollout={rollout} onClose={() => setEnding(false)} />}
    </>
  );
}
