import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Campaign, LabDevice } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useMayRun } from "./access";
import { useDecideCampaign } from "./queries";

/** A campaign on an RNIC of the fleet waits here for another person. The server refuses the requester's own approval. */
export function ApprovalPanel({ campaign, device }: { campaign: Campaign; device: LabDevice | undefined }) {
  const decide = useDecideCampaign(campaign.id);
  const mayRun = useMayRun();
  const [comment, setComment] = useState("");
  const words = comment.trim();
  const place = device?.host && device.pci ? ` ${device.pci} of host ${device.host}` : "";
  return (
    <Panel title="Waits for approval by another person">
      <Stack gap={8}>
        <Text size="sm">
          {campaign.requested_by} requested it. It tests RNIC{place || ` ${campaign.device}`}, which may drop every
          packet meanwhile. Once approved, it starts as soon as a runner is free.
        </Text>
        {mayRun(device?.run_role) ? (
          <Group align="flex-end" gap={8}>
            <TextInput
              label="Comment"
              description="Recorded with your decision; required to reject"
              maxLength={200}
              value={comment}
              onChange={(event) => setComment(event.currentTarget.value)}
              style={{ flex: 1 }}
            />
            <Button
              variant="default"
              disabled={words === ""}
              loading={decide.isPending && decide.variables.reject !== undefined}
              onClick={() => decide.mutate({ reject: words })}
            >
              Reject
            </Button>
            <Button
              loading={decide.isPending && decide.variables.reject === undefined}
              onClick={() => decide.mutate(words === "" ? {} : { comment: words })}
            >
              Approve
            </Button>
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            The role {device?.run_role ?? "admin"} is required to approve or reject it.
          </Text>
        )}
        {decide.error !== null && <ProblemNotice error={decide.error} />}
      </Stack>
    </Panel>
  );
}
