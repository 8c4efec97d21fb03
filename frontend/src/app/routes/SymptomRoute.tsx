import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { SymptomPage } from "@/features/fleet/symptoms/SymptomPage";
import { useTitle } from "@/lib/ui/useTitle";

export function SymptomRoute() {
  const { symptom } = getRouteApi("/symptoms/$symptom").useParams();
  useTitle(symptom);
  return <SymptomPage key={symptom} symptom={symptom} />;
}
