import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Remedy } from "@/lib/api/types";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useDecideRemedy } from "./queries";

/** Yes or no to a proposal. Who ordered it may withdraw it; the server refuses their own yes. */
export function Decision({ remedy }: { remedy: Remedy }) {
  const decide = useDecideRemedy();
  const [reason, setReason] = useState("");
  return (
    <Stack gap={8} role="group" aria-label="Approval">
      <Text size="sm">
        {remedy.requested_by} proposed it for {remedy.host}
        {remedy.pci ? ` ${remedy.pci}` : ""}. Approving sends it to the host at once.
      </Text>
      {decide.isError && <ProblemNotice error={decide.error} />}
      <Group align="flex-end" gap={8}>
        <TextInput label="Reason" description="Needed to reject or withdraw it" value={reason} onChange={(event) => setReason(event.currentTarget.value)} style={{ flex: 1 }} />
        <Button variant="default" disabled={reason.trim() === ""} loading={decide.isPending && decide.variables.reject !== undefined} onClick={() => decide.mutate({ id: remedy.id, reject: reason.trim() })}>
          Reject
        </Button>
        <Button loading={decide.isPending && decide.variables.reject === undefined} onClick={() => decide.mutate({ id: remedy.id })}>
          Approve
        </Button>
      </Group>
    </Stack>
  );
}
