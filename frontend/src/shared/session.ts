import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, setCsrfToken, unwrap } from "@/lib/api/client";
import { Problem } from "@/lib/api/problem";

const KEY = ["session"];

/** Who is signed in; null when no one is. */
export function useSession() {
  return useQuery({
    queryKey: KEY,
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      try {
        const session = await unwrap(api.GET("/api/v1/session"));
        setCsrfToken(session.csrf_token ?? null);
        return session;
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return null;
        throw error;
      }
    },
  });
}

/** Whether who is signed in may change anything; a viewer reads only. The server decides, this spares a refusal. */
export function useMayChange(): boolean {
  const role = useSession().data?.user.role;
  return role !== undefined && role !== "viewer";
}

/** How people can sign in; a server that does not say so has local accounts only. */
export function useSignInMethods() {
  return useQuery({
    queryKey: ["sign-in-methods"],
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET("/api/v1/session/methods")),
  });
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string }) => unwrap(api.POST("/api/v1/session", { body })),
    onSuccess: (session) => {
      setCsrfToken(session.csrf_token ?? null);
      client.setQueryData(KEY, session);
    },
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/session")),
    onSettled: () => {
      setCsrfToken(null);
      client.clear();
      client.setQueryData(KEY, null);
    },
  });
}
