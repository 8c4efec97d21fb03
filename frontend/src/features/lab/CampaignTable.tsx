import { Progress, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { CampaignSummary } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { CampaignState } from "./CampaignState";
import { phaseText, resultText, savedText, usedShare } from "./labText";

const TITLES = ["Device", "State", "Tests", "Fewer than brute force", "Result", "Started"] as const;

function ProgressCell({ campaign }: { campaign: CampaignSummary }) {
  const { progress, options, state } = campaign;
  const tests = progress.tests.toLocaleString("en");
  if (state !== "running") return <Text size="sm">{progress.tests > 0 ? tests : "–"}</Text>;
  return (
    <>
      <Text size="sm">
        {tests} of at most {options.budget.toLocaleString("en")}
      </Text>
      <Progress
        value={100 * usedShare(campaign)}
        size="xs"
        mt={2}
        aria-label={`Budget used: ${tests} of ${plural(options.budget, "test")}`}
      />
    </>
  );
}

function ResultCell({ campaign }: { campaign: CampaignSummary }) {
  const { causes, state, progress } = campaign;
  if (state === "running") {
    const bad = progress.bad > 0 ? `, ${progress.bad.toLocaleString("en")} tests with a symptom` : "";
    return (
      <Text size="sm" c="dimmed">
        {phaseText(progress.phase)}
        {bad}
      </Text>
    );
  }
  const text = resultText(campaign);
  if (text === "") return <Text size="sm">–</Text>;
  if (causes === null)
    return (
      <Text size="sm" lineClamp={2}>
        {text}
      </Text>
    );
  return <StatusMark tone={causes > 0 ? "bad" : campaign.complete === false ? "quiet" : "good"}>{text}</StatusMark>;
}

function CampaignRow({ campaign }: { campaign: CampaignSummary }) {
  const now = useNow();
  return (
    <Table.Tr data-testid="campaign" data-state={campaign.state}>
      <Table.Td>
        <Link to="/lab/$id" params={{ id: campaign.id }}>
          {campaign.device}
        </Link>
        {campaign.options.parameters !== null && (
          <Text size="xs" c="dimmed">
            only {campaign.options.parameters.join(", ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <CampaignState campaign={campaign} />
      </Table.Td>
      <Table.Td miw={150}>
        <ProgressCell campaign={campaign} />
      </Table.Td>
      <Table.Td>{savedText(campaign.brute_force_tests, campaign.progress.tests) ?? "–"}</Table.Td>
      <Table.Td>
        <ResultCell campaign={campaign} />
      </Table.Td>
      <Table.Td>
        <Text size="sm">
          {formatAgo(campaign.created_at, now)} by {campaign.requested_by}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}

/** Campaigns, newest first, with how far each is and what it found. */
export function CampaignTable({ campaigns }: { campaigns: readonly CampaignSummary[] }) {
  return (
    <HeadedTable label="Campaigns" titles={TITLES}>
      {campaigns.map((campaign) => (
        <CampaignRow key={campaign.id} campaign={campaign} />
      ))}
    </HeadedTable>
  );
}
