import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Remedy } from "@/lib/api/types";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useActions, useDecideRemedy } from "../queries";
import { ActionFacts } from "./ActionFacts";
import { RemedyProgress } from "./RemedyProgress";
import { useDryRun } from "./useDryRun";

/** Approve or reject a requested remedy, with its dry run at hand. The requester may withdraw it, but the server refuses their own approval. */
export function Decision({ remedy }: { remedy: Remedy }) {
  const decide = useDecideRemedy();
  const [reason, setReason] = useState("");
  const action = useActions().data?.find((each) => each.action === remedy.action);
  // The same order, but for the run: what the proposer saw may have changed on the host meanwhile.
  const dryRun = useDryRun({
    action: remedy.action,
    host: remedy.host,
    pci: remedy.pci,
    params: remedy.params,
    ...(remedy.incident_id ? { incident_id: remedy.incident_id } : {}),
  });
  return (
    <Stack gap={8} role="group" aria-label="Approval">
      <Text size="sm">
        {remedy.requested_by} requested it for {remedy.host}
        {remedy.pci ? ` ${remedy.pci}` : ""}. Approving sends it to the host immediately.
      </Text>
      {action && (
        <ActionFacts action={action} reach={action.scope === "host" ? `Affects every RNIC on ${remedy.host}.` : null} />
      )}
      {dryRun.error !== null && <ProblemNotice error={dryRun.error} />}
      {dryRun.remedy ? (
        <RemedyProgress remedy={dryRun.remedy} />
      ) : (
        <Button variant="default" style={{ alignSelf: "flex-start" }} loading={dryRun.waiting} onClick={dryRun.start}>
          Dry run: show the exact operations
        </Button>
      )}
      {decide.isError && <ProblemNotice error={decide.error} />}
      <Group align="flex-end" gap={8}>
        <TextInput
          label="Comment"
          description="Recorded with your decision; required to reject or withdraw"
          maxLength={200}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          style={{ flex: 1 }}
        />
        <Button
          variant="default"
          disabled={reason.trim() === ""}
          loading={decide.isPending && decide.variables.reject !== undefined}
          onClick={() => decide.mutate({ id: remedy.id, reject: reason.trim() })}
        >
          Reject
        </Button>
        <Button
          loading={decide.isPending && decide.variables.reject === undefined}
          onClick={() => decide.mutate({ id: remedy.id, ...(reason.trim() === "" ? {} : { comment: reason.trim() }) })}
        >
          Approve
        </Button>
      </Group>
    </Stack>
  );
}
