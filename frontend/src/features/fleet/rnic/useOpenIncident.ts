import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Goes to an incident's page from a picture, which can have no link. */
export function useOpenIncident(): (id: string) => void {
  const navigate = useNavigate();
  return useCallback((id: string) => void navigate({ to: "/incidents/$id", params: { id } }), [navigate]);
}
