import "@/lib/ui/mantineMore.css";
import { ProfilesPage } from "@/features/fleet/profiles/ProfilesPage";
import { useTitle } from "@/lib/ui/useTitle";

export function ProfilesRoute() {
  useTitle("Profiles");
  return <ProfilesPage />;
}
