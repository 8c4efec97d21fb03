import { Center, Loader } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { SignInPage } from "@/features/accounts/SignInPage";
import { LiveProvider } from "@/lib/stream/LiveContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSession } from "@/shared/session";
import { CatalogueGate } from "./CatalogueGate";
import { Shell } from "./frame/Shell";

/** Everything but the sign-in form needs a session; the stream lives as long as one does. */
export function SessionGate() {
  const session = useSession();
  if (session.isPending) {
    return (
      <Center mih="100vh">
        <Loader aria-label="Loading" />
      </Center>
    );
  }
  if (session.error && session.data === undefined) {
    return (
      <Center mih="100vh" p="md" component="main">
        <ProblemNotice error={session.error} onRetry={() => void session.refetch()} />
      </Center>
    );
  }
  if (!session.data) return <SignInPage />;
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
