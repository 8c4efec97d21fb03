import "@/lib/ui/mantineMore.css";
import { PlacementPage } from "@/features/functions/placement/PlacementPage";
import { useTitle } from "@/lib/ui/useTitle";

export function PlacementRoute() {
  useTitle("Placement");
  return <PlacementPage />;
}
