import { Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCampaign } from "@/features/lab/queries";
import { draftOf, nameOf } from "@/features/policies/editor/draft";
import { PolicyEditor } from "@/features/policies/editor/PolicyEditor";
import { EmptyState } from "@/lib/ui/EmptyState";
import { QueryState } from "@/lib/ui/QueryState";

/** The editor with the policy that forbids a cause which the lab found. Nothing is stored before it is saved, nothing runs before it is enabled. */
export function PolicyOfCausePage({ campaign, cause }: { campaign: string; cause: number }) {
  const query = useCampaign(campaign);
  const back = (
    <Link to="/lab/$id" params={{ id: campaign }}>
      the lab campaign on {query.data?.device}
    </Link>
  );
  return (
    <QueryState query={query} lines={12}>
      {({ report }) => {
        const found = report?.causes.find(({ id }) => id === cause);
        if (!found?.policy)
          return (
            <EmptyState title="No policy can be made of this cause">
              {found ? found.no_policy : "The campaign has no such cause."} Back to {back}.
            </EmptyState>
          );
        return (
          <Stack gap={12}>
            <Text size="sm">
              A draft from cause {cause} of {back}: {found.text}
            </Text>
            <PolicyEditor policy={null} initial={draftOf(found.policy, nameOf(found.policy.title))} />
          </Stack>
        );
      }}
    </QueryState>
  );
}
