import { Anchor, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useLabDevices } from "./queries";
import type { NewCampaignSearch } from "./search";
import { StartForm } from "./StartForm";

function Purpose({ search }: { search: NewCampaignSearch }) {
  const causes = useCatalogue().data?.causes;
  if (search.cause === undefined) return null;
  const title = causes?.find(({ id }) => id === search.cause)?.title;
  return (
    <Text size="sm">
      To confirm {search.cause}
      {title ? `: ${title}. ` : ". "}
      Only the parameters in which it shows are chosen.
      {search.incident !== undefined && (
        <>
          {" For "}
          <Link to="/incidents/$id" params={{ id: search.incident }}>
            an incident
          </Link>
          ; what is found goes into its timeline.
        </>
      )}
    </Text>
  );
}

/** The start of a campaign: what to test, for how long, and what to vary. */
export function NewCampaignPage({ search, onStarted }: { search: NewCampaignSearch; onStarted: (id: string) => void }) {
  const devices = useLabDevices();
  return (
    <Stack gap={12} maw={1100}>
      <div>
        <Title order={1}>Start a campaign</Title>
        <Purpose search={search} />
      </div>
      <Panel title="Campaign">
        <QueryState
          query={devices}
          lines={8}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState title="No device to test">
              The server&apos;s settings name the devices; no runner offers one now.{" "}
              <Anchor renderRoot={(props) => <Link to="/lab" {...props} />}>Back to the lab</Anchor>
            </EmptyState>
          }
        >
          {({ items }) => <StartForm devices={items} search={search} onStarted={onStarted} />}
        </QueryState>
      </Panel>
    </Stack>
  );
}
