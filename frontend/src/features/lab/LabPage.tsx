import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useStates } from "@/lib/api/useStates";
import { isOver } from "@/lib/states";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { ListPanel } from "@/lib/ui/ListPanel";
import { useMayChange } from "@/shared/session";
import { useMayRun } from "./access";
import { CampaignTable } from "./CampaignTable";
import { DevicesPanel } from "./DevicesPanel";
import { useCampaigns, useLabDevices, useStopAll } from "./queries";
import { RulesPanel } from "./RulesPanel";
import type { LabFilters } from "./search";

/** The lab: which devices can be tested, and every campaign with how far it is and what it found. */
export function LabPage({ filters }: { filters: LabFilters }) {
  const campaigns = useCampaigns(filters);
  const mayChange = useMayChange();
  const mayRun = useMayRun();
  const runRole = useLabDevices().data?.run_role;
  const states = useStates("campaign");
  const stop = useStopAll();
  const open = campaigns.data?.some(({ state }) => !isOver(states, state)) ?? false;
  return (
    <Stack gap={12}>
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={1}>Lab</Title>
          <Text size="sm" c="dimmed">
            Finds what makes an RNIC fall over, and at which value, with as few tests as possible.
          </Text>
        </div>
        {mayChange && (
          <Group gap={8}>
            {open && (
              <ConfirmButton
                label="Stop all campaigns"
                question="Every campaign stops within about a second. What was found so far is kept."
                confirm="Stop all"
                loading={stop.isPending}
                onConfirm={() => stop.mutate()}
              />
            )}
            {mayRun(runRole) && (
              <Button renderRoot={(props) => <Link to="/lab/new" {...props} />}>Start a campaign</Button>
            )}
          </Group>
        )}
      </Group>
      <DevicesPanel />
      <ListPanel
        title="Campaigns"
        aside={
          filters.device !== undefined && (
            <Text size="xs" c="dimmed">
              of {filters.device} · <Link to="/lab">show all</Link>
            </Text>
          )
        }
        pages={campaigns}
        problem={stop.error}
        empty={
          <EmptyState title="No campaigns yet">
            A campaign tests a device until it knows every combination of settings that makes it fail, and the exact
            value at which it starts.
          </EmptyState>
        }
        moreLabel="Show older campaigns"
      >
        {(items) => <CampaignTable campaigns={items} />}
      </ListPanel>
      <RulesPanel />
    </Stack>
  );
}
