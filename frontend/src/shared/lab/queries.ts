import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

/** What the lab varies, and which dimensions confirm which cause. It changes with the server's version only. */
export function useLabCatalogue() {
  return useQuery({
    queryKey: ["lab", "catalogue"],
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET("/api/v1/lab/catalogue")),
  });
}
