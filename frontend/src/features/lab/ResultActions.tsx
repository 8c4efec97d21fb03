import { Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Campaign } from "@/lib/api/types";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useAttach, useWriteProfile } from "./queries";

/** What the whole result becomes: a note in the incident's timeline, a candidate of the model's profile. */
export function ResultActions({ campaign }: { campaign: Campaign }) {
  const attach = useAttach(campaign.id);
  const profile = useWriteProfile(campaign.id);
  if (!campaign.report || campaign.report.causes.length === 0) return null;
  return (
    <div>
      <Group gap={8} justify="flex-end">
        {campaign.incident_id !== null && (
          <Button
            size="compact-xs"
            variant="default"
            loading={attach.isPending}
            disabled={attach.isSuccess}
            onClick={() => attach.mutate({ causes: [] })}
          >
            {attach.isSuccess ? "Attached" : "Attach to incident"}
          </Button>
        )}
        <Button
          size="compact-xs"
          loading={profile.isPending}
          disabled={profile.isSuccess}
          onClick={() => profile.mutate({ causes: [] })}
        >
          Write into profile
        </Button>
      </Group>
      {profile.data && (
        <Text size="sm" role="status" mt={4}>
          <Link to="/profiles/$model" params={{ model: profile.data.model }}>
            Version {profile.data.number} of {profile.data.model}
          </Link>{" "}
          is a candidate; promote it to use it.
        </Text>
      )}
      {profile.error !== null && <ProblemNotice error={profile.error} />}
      {attach.error !== null && <ProblemNotice error={attach.error} />}
    </div>
  );
}
