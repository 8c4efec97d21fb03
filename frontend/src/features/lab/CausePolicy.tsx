import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { FoundCause } from "@/lib/api/types";
import { useMayChange } from "@/shared/session";

/** Opens the editor of policies with a draft that forbids the cause, or says why no policy can. */
export function CausePolicy({ cause, campaign }: { cause: FoundCause; campaign: string }) {
  const mayChange = useMayChange();
  if (cause.policy === null)
    return cause.no_policy === null ? null : (
      <Text size="xs" c="dimmed">
        No policy: {cause.no_policy}
      </Text>
    );
  if (!mayChange) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      style={{ alignSelf: "flex-start" }}
      aria-label={`Create policy from cause ${cause.id}`}
      renderRoot={(props) => <Link to="/policies/new" search={{ campaign, cause: cause.id }} {...props} />}
    >
      Create policy
    </Button>
  );
}
