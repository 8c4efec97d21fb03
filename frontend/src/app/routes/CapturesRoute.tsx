import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { CapturesPage } from "@/features/captures/CapturesPage";
import { useTitle } from "@/lib/ui/useTitle";

export function CapturesRoute() {
  useTitle("Captures");
  return <CapturesPage search={getRouteApi("/captures").useSearch()} />;
}
