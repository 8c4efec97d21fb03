import "@/lib/ui/mantineMore.css";
import { getRouteApi } from "@tanstack/react-router";
import { IncidentPage } from "../pages/IncidentPage";

export function IncidentRoute() {
  const { id } = getRouteApi("/incidents/$id").useParams();
  return <IncidentPage key={id} id={id} />;
}
