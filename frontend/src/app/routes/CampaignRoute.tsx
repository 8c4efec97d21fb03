import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { CampaignPage } from "@/features/lab/CampaignPage";
import { useTitle } from "@/lib/ui/useTitle";

export function CampaignRoute() {
  const { id } = getRouteApi("/lab/$id").useParams();
  useTitle("Lab campaign");
  return <CampaignPage key={id} id={id} />;
}
