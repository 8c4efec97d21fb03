import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

/** To whom incidents can be assigned: accounts that can sign in, those whose name has `part`, the name itself first. */
export function useAssignees(part: string, enabled = true) {
  return useQuery({
    queryKey: ["assignees", part],
    queryFn: () => unwrap(api.GET("/api/v1/incidents/assignees", { params: { query: { q: part, limit: 50 } } })),
    enabled,
    staleTime: 60_000,
  });
}
