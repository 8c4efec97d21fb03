import type { CampaignSummary } from "@/lib/api/types";
import { StateMark } from "@/lib/ui/StateMark";
import { StatusMark } from "@/lib/ui/StatusMark";

/** The state of a campaign; what holds it up comes before it. */
export function CampaignState({
  campaign,
}: {
  campaign: Pick<CampaignSummary, "state" | "stopping" | "silent" | "complete">;
}) {
  if (campaign.stopping) return <StatusMark tone="waiting">Stopping</StatusMark>;
  if (campaign.silent) return <StatusMark tone="warn">Waiting for a runner</StatusMark>;
  // It ran to its end, but the end was its budget or its time: more causes may exist.
  if (campaign.state === "finished" && campaign.complete === false)
    return <StatusMark tone="warn">Ended early</StatusMark>;
  return <StateMark machine="campaign" state={campaign.state} />;
}
