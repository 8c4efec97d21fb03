import "@/lib/ui/mantineMore.css";
import { ModelsPage } from "@/features/functions/models/ModelsPage";
import { useTitle } from "@/lib/ui/useTitle";

export function FunctionModelsRoute() {
  useTitle("Models of functions");
  return <ModelsPage />;
}
