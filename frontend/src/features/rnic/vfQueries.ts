import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/lib/api/client";

/** The samples come every two minutes, but who holds a function changes at any time. */
const VFS_EVERY_MS = 10_000;

export function useVfs(host: string, pci: string) {
  return useQuery({
    queryKey: ["rnics", host, pci, "vfs"],
    queryFn: () => unwrap(api.GET("/api/v1/rnics/{host}/{pci}/vfs", { params: { path: { host, pci } } })),
    refetchInterval: VFS_EVERY_MS,
  });
}
