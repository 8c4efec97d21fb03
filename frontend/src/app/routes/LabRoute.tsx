import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { LabPage } from "@/features/lab/LabPage";
import { useTitle } from "@/lib/ui/useTitle";

export function LabRoute() {
  useTitle("Lab");
  return <LabPage filters={getRouteApi("/lab").useSearch()} />;
}
