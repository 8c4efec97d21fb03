import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { PolicyEditorPage } from "@/features/policies/editor/PolicyEditorPage";
import { useTitle } from "@/lib/ui/useTitle";

export function EditPolicyRoute() {
  const { id } = getRouteApi("/policies/$id/edit").useParams();
  useTitle(`Edit ${id}`);
  return <PolicyEditorPage key={id} id={id} copy={null} />;
}
