import { QueryClient } from "@tanstack/react-query";
import { onSignedOut } from "@/lib/api/client";
import { Problem } from "@/lib/api/problem";

const RETRIES = 2;
const FIRST_RETRY_MS = 400;

/** A refusal is final; only an unreachable or failing server is worth asking again. */
export function shouldRetry(failures: number, error: unknown): boolean {
  if (error instanceof Problem && error.status >= 400 && error.status < 500) return false;
  return failures < RETRIES;
}

export function makeQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: shouldRetry,
        retryDelay: (failures) => FIRST_RETRY_MS * 2 ** failures,
        staleTime: 5_000,
        refetchOnWindowFocus: false,
      },
      mutations: { retry: false },
    },
  });
  onSignedOut(() => client.setQueryData(["session"], null));
  return client;
}
