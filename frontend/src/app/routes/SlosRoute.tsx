import "@/lib/ui/mantineMore.css";
import { SloPage } from "@/features/isolation/slo/SloPage";
import { useTitle } from "@/lib/ui/useTitle";

export function SlosRoute() {
  useTitle("SLOs");
  return <SloPage />;
}
