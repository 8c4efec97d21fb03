import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { SettingsPage } from "@/features/accounts/SettingsPage";
import { useTitle } from "@/lib/ui/useTitle";

export function SettingsRoute() {
  const { section } = getRouteApi("/settings/$section").useParams();
  useTitle("Settings");
  return <SettingsPage section={section} />;
}
