import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { RolloutPage } from "@/features/rollouts/RolloutPage";
import { useTitle } from "@/lib/ui/useTitle";

export function RolloutRoute() {
  const { id } = getRouteApi("/rollouts/$id").useParams();
  useTitle("Rollout");
  return <RolloutPage key={id} id={id} />;
}
