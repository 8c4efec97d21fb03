import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { PolicyEditorPage } from "@/features/policies/editor/PolicyEditorPage";
import type { EditorSearch } from "@/features/policies/filters";
import { useTitle } from "@/lib/ui/useTitle";
import { PolicyOfCausePage } from "../pages/PolicyOfCausePage";

export function NewPolicyRoute() {
  const { copy, campaign, cause }: EditorSearch = getRouteApi("/policies/new").useSearch();
  useTitle("New policy");
  if (campaign !== undefined && cause !== undefined)
    return <PolicyOfCausePage key={`${campaign} ${cause}`} campaign={campaign} cause={cause} />;
  return <PolicyEditorPage key={copy} id={null} copy={copy ?? null} />;
}
