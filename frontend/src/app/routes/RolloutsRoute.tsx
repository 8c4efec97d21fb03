import "@/lib/ui/mantineMore.css";
import { RolloutsPage } from "@/features/rollouts/RolloutsPage";
import { useTitle } from "@/lib/ui/useTitle";

export function RolloutsRoute() {
  useTitle("Rollouts");
  return <RolloutsPage />;
}
