import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { PlanPage } from "@/features/plans/PlanPage";
import { useTitle } from "@/lib/ui/useTitle";

export function PlanRoute() {
  const { id } = getRouteApi("/plans/$id").useParams();
  useTitle("Mask plan");
  return <PlanPage key={id} id={id} />;
}
