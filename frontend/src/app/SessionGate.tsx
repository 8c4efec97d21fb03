import { Center, Loader } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { LiveProvider } from "@/lib/stream/LiveContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSession } from "@/shared/session";
import { CatalogueGate } from "./CatalogueGate";
import { Shell } from "./frame/Shell";
import { usePrintLight } from "./frame/usePrintLight";

const SignInPage = lazy(() =>
  import("@/features/accounts/SignInPage").then((module) => ({ default: module.SignInPage })),
);

/** Everything but the sign-in form needs a session; the stream lives as long as one does. */
export function SessionGate() {
  const session = useSession();
  usePrintLight();
  const loading = (
    <Center mih="100vh">
      <Loader aria-label="Loading" />
    </Center>
  );
  if (session.isPending) return loading;
  if (session.error && session.data === undefined) {
    return (
      <Center mih="100vh" p="md" component="main">
        <ProblemNotice error={session.error} onRetry={() => void session.refetch()} />
      </Center>
    );
  }
  if (!session.data)
    return (
      <Suspense fallback={loading}>
        <SignInPage />
      </Suspense>
    );
  return (
    <LiveProvider>
      <Shell user={session.data.user}>
        <CatalogueGate>
          <Outlet />
        </CatalogueGate>
      </Shell>
    </LiveProvider>
  );
}
