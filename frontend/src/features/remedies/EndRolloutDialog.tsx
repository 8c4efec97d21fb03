import { Checkbox, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useChangeRollout } from "./rolloutQueries";

/** Rejects a rollout that has not begun, or stops one that has. */
export function EndRolloutDialog({ rollout, onClose }: { rollout: Rollout; onClose: () => void }) {
  const change = useChangeRollout();
  const [reason, setReason] = useState("");
  const [undo, setUndo] = useState(false);
  const proposed = rollout.state === "proposed";
  const text = reason.trim();
  return (
    <FormDialog
      title={proposed ? "Reject the rollout" : "Stop the rollout"}
      submit={proposed ? "Reject" : "Stop"}
      request={change}
      disabled={text === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(proposed ? { id: rollout.id, kind: "reject", reason: text } : { id: rollout.id, kind: "stop", reason: text, undo }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">{proposed ? "Nothing has reached a host." : "No further host is reached; what is under way on a host goes on. It cannot be resumed."}</Text>
      <TextInput label="Reason" required data-autofocus value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
      {!proposed && <Checkbox label="Undo what it has done" description="The last wave first, one target alone before all others" checked={undo} onChange={(event) => setUndo(event.currentTarget.checked)} />}
    </FormDialog>
  );
}
