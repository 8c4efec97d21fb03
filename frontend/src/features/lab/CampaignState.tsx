import type { CampaignSummary } from "@/lib/api/types";
import { StateMark } from "@/lib/ui/StateMark";
import { StatusMark } from "@/lib/ui/StatusMark";

/** The state of a campaign; what holds it up comes before it. */
export function CampaignState({ campaign }: { campaign: Pick<CampaignSummary, "state" | "stopping" | "silent"> }) {
  if (campaign.stopping) return <StatusMark tone="waiting">Stopping</StatusMark>;
  if (campaign.silent) return <StatusMark tone="warn">Waiting for a runner</StatusMark>;
  return <StateMark machine="campaign" state={campaign.state} />;
}
